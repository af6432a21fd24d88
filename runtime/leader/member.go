/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// aware is what the reconcilers are: those that injection-gen makes, and the ones of
// knative.dev/pkg for certificates and webhook configurations.
type aware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// member stands before a reconciler: knative runs it without an election and takes
// it for the leader of everything, while the reconciler learns from the Leader what it leads.
type member struct {
	leader  *Leader
	inner   aware
	enqueue func(reconciler.Bucket, types.NamespacedName)
	started sync.Once
}

// Lead wraps a constructor, so that its controller works only while the process
// leads. Every controller of a process has to be wrapped, and sharedmain's own
// election has to be off. A reconciler that is not leader-aware ends the process. What
// else a reconciler is, such as an admission controller, sharedmain does not see any more.
func (l *Leader) Lead(ctor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		impl := ctor(ctx, cmw)
		l.logger.Store(logging.FromContext(ctx).Named("leader"))
		inner, ok := impl.Reconciler.(aware)
		if !ok {
			logging.FromContext(ctx).Fatalf("%T is not leader-aware, which every reconciler has to be", impl.Reconciler)
		}
		m := &member{leader: l, inner: inner, enqueue: impl.MaybeEnqueueBucketKey}
		l.add(m)
		impl.Reconciler = m
		return impl
	}
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
		// Keys that wait for a short queue, see package backlog, wait for this one as well.
		if f, ok := m.inner.(interface{ Feed() }); ok {
			f.Feed()
		}
		return controller.NewSkipKey(key)
	}
	defer leave()
	return m.inner.Reconcile(ctx, key)
}

// Promote implements reconciler.LeaderAware. knative calls it as soon as the controller
// runs, when the informers have synced, so this is when the process may stand for election.
func (m *member) Promote(reconciler.Bucket, func(reconciler.Bucket, types.NamespacedName)) error {
	m.started.Do(m.leader.memberRuns)
	return nil
}

// Demote implements reconciler.LeaderAware.
func (m *member) Demote(reconciler.Bucket) {}
