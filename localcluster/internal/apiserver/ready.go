/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// pollInterval is short because the start of a cluster is what people wait for.
const pollInterval = 25 * time.Millisecond

// WaitReady waits until /readyz is ok, which includes that the default RBAC roles and system namespaces exist. It
// returns the context's cause when that ends first, and the server's error when it ends.
func (s *Server) WaitReady(ctx context.Context, client kubernetes.Interface) error {
	return s.poll(ctx, func(ctx context.Context) bool {
		_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	})
}

// WaitFor waits, like WaitReady, until a check succeeds. The check's last error is part of the error when time runs out.
func (s *Server) WaitFor(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	err := s.poll(ctx, func(ctx context.Context) bool {
		last = check(ctx)
		return last == nil
	})
	if err != nil && last != nil {
		return fmt.Errorf("waiting for %s: %w (last: %w)", what, err, last)
	}
	return err
}

func (s *Server) poll(ctx context.Context, ok func(context.Context) bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-s.done:
			cancel(s.err)
		case <-ctx.Done():
		}
	}()
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		return ok(ctx), nil
	})
	if err != nil {
		return context.Cause(ctx)
	}
	return nil
}
