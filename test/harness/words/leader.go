/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package words

import (
	"context"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/test/harness"
)

// ControllerLease is the lease of the controller that leads.
const ControllerLease = "controller.00-of-01"

// Leader returns the name of the Pod whose controller leads, or nothing if none does.
func Leader(ctx context.Context, env *harness.Env) (pod string, err error) {
	lease, err := controllerLease(ctx, env)
	if err != nil || lease.Spec.HolderIdentity == nil {
		return "", err
	}
	// The identity begins with the name of the Pod.
	pod, _, _ = strings.Cut(*lease.Spec.HolderIdentity, "_")
	return pod, nil
}

// LeaseDuration returns how long a leader may be silent before another takes its place.
func LeaseDuration(ctx context.Context, env *harness.Env) (time.Duration, error) {
	lease, err := controllerLease(ctx, env)
	if err != nil {
		return 0, err
	}
	if lease.Spec.LeaseDurationSeconds == nil {
		return 0, fmt.Errorf("the lease %s does not say how long it lasts: %+v", ControllerLease, lease.Spec)
	}
	return time.Duration(*lease.Spec.LeaseDurationSeconds) * time.Second, nil
}

func controllerLease(ctx context.Context, env *harness.Env) (*coordinationv1.Lease, error) {
	lease, err := env.Kube.CoordinationV1().Leases(env.SystemNamespace).Get(ctx, ControllerLease, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("reading the lease of the controller: %w", err)
	}
	return lease, nil
}
