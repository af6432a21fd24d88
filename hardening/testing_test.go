/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"golang.org/x/time/rate"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// newProcess returns the state of a process in which concerns are switched off, and its log.
func newProcess(t *testing.T, off ...concern) (*process, *observer.ObservedLogs) {
	t.Helper()
	p := &process{off: map[concern]bool{}, registrations: rate.NewLimiter(rate.Every(apart), 1)}
	for _, c := range off {
		p.off[c] = true
	}
	core, logs := observer.New(zap.DebugLevel)
	p.log.Store(zap.New(core).Sugar())
	p.running.Store(true)
	return p, logs
}

// construct calls a constructor in a process, as sharedmain does.
func construct(t *testing.T, p *process, constructor func(context.Context, configmap.Watcher) *controller.Impl) *controller.Impl {
	t.Helper()
	ctx := logging.WithLogger(t.Context(), p.logger())
	return p.constructor(constructor)(ctx, configmap.NewStaticWatcher())
}

// reconcileFunc is a reconciler without any optional interface.
type reconcileFunc func(ctx context.Context, key string) error

func (f reconcileFunc) Reconcile(ctx context.Context, key string) error { return f(ctx, key) }

// newImpl returns an Impl as generated code makes it.
func newImpl(ctx context.Context, r controller.Reconciler) *controller.Impl {
	return controller.NewContext(ctx, r, controller.ControllerOptions{WorkQueueName: "Test", Logger: logging.FromContext(ctx)})
}

// eventually waits for a condition that no event announces.
func eventually(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) { //nolint:forbidigo // it polls
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", condition)
		}
	}
}
