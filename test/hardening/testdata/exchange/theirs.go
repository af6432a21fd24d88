/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice has the reconciler of the constructor of another repository.
package addressableservice

import (
	"context"

	corev1listers "k8s.io/client-go/listers/core/v1"

	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Reconciler has the fields that the constructor sets.
type Reconciler struct {
	Tracker       tracker.Interface
	ServiceLister corev1listers.ServiceLister
}

// ReconcileKind implements the generated Interface.
func (*Reconciler) ReconcileKind(context.Context, *v1.AddressableService) reconciler.Event {
	return nil
}
