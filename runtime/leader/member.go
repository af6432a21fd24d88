/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// aware is implemented by every reconciler of injection-gen, and by those of knative.dev/pkg for webhooks.
type aware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// member wraps a reconciler, which the Leader promotes and demotes.
type member struct {
	leader  *Leader
	inner   aware
	enqueue func(reconciler.Bucket, types.NamespacedName)
	// drains reports whether the reconciler has a method Drains: its queue has to be emptied before another replica leads.
	drains bool
}

// Attach lets a controller work only while the process leads, unless its reconciler has a method OnEveryReplica. It is called for every
// controller of the process before any of them runs, after whatever else wraps its reconciler, and without an election of knative.dev/pkg in
// the context.
func (l *Leader) Attach(impl *controller.Impl) error {
	if _, ok := impl.Reconciler.(interface{ OnEveryReplica() }); ok {
		return nil
	}
	inner, ok := impl.Reconciler.(aware)
	if !ok {
		return fmt.Errorf("the reconciler %T is not leader-aware", impl.Reconciler)
	}
	m := &member{leader: l, inner: inner, enqueue: impl.MaybeEnqueueBucketKey}
	_, m.drains = inner.(interface{ Drains() })
	l.members = append(l.members, m)
	// It is not leader-aware itself, so that controller.Impl starts no election.
	impl.Reconciler = m
	return nil
}

// Reconcile implements controller.Reconciler. A key that arrives while the gate is shut
// is dropped: a promotion enqueues all keys. The context ends when the lease is lost.
func (m *member) Reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return controller.NewPermanentError(err)
	}
	ctx, leave, ok := m.leader.shareOf(types.NamespacedName{Namespace: namespace, Name: name}).gate.enter(ctx)
	if !ok {
		return m.skip(key)
	}
	defer leave()
	if m.leader.ending.Load() && !m.drains {
		return m.skip(key)
	}
	return m.inner.Reconcile(ctx, key)
}

func (m *member) skip(key string) error {
	// Keys that wait for a short queue, see package observe, wait for this one as well.
	if f, ok := m.inner.(interface{ Feed() }); ok {
		f.Feed()
	}
	return controller.NewSkipKey(key)
}
