/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// LeaderAware is implemented by every generated reconciler.
type LeaderAware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// Guard wraps a generated reconciler so that it is not called for an object for which the cache is behind: the event that is
// still to come enqueues the object again. indexer is the cache that the reconciler reads its objects from.
func Guard(inner LeaderAware, indexer cache.KeyGetter, writes *Writes) LeaderAware {
	return &guard{LeaderAware: inner, indexer: indexer, writes: writes}
}

type guard struct {
	LeaderAware

	indexer cache.KeyGetter
	writes  *Writes
}

// Reconcile implements controller.Reconciler.
func (g *guard) Reconcile(ctx context.Context, key string) error {
	obj, exists, err := g.indexer.GetByKey(key)
	if cached, ok := obj.(metav1.Object); ok && err == nil && exists {
		if g.writes.Behind(cached) {
			// In case the event never arrives.
			return controller.NewRequeueAfter(Patience)
		}
	} else if namespace, name, err := cache.SplitMetaNamespaceKey(key); err == nil {
		g.writes.Forget(types.NamespacedName{Namespace: namespace, Name: name})
	}
	return g.LeaderAware.Reconcile(ctx, key)
}
