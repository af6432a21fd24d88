/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// everywhere is the controller of an observer that runs on every replica. Its only key starts the workers, once the informers of the process have
// synced.
type everywhere[T Object] struct{ *queue[T] }

// leading is the controller of an observer that runs on the leader only. It implements reconciler.LeaderAware. Until a promotion it has no events.
type leading[T Object] struct{ *queue[T] }

// controllerOf returns the controller of a registered observer, by which the process starts and promotes it. The name of the observer is that of
// the queue from which it is called.
func controllerOf[T Object](q *queue[T]) *controller.Impl {
	var r controller.Reconciler = everywhere[T]{q}
	isLeaderOnly := q.options.Scope != EveryReplica
	if isLeaderOnly {
		r = leading[T]{q}
	}
	impl := controller.NewContext(q.ctx, r, controller.ControllerOptions{
		WorkQueueName: "observers", Concurrency: 1, Logger: logging.FromContext(q.ctx).Named(q.id),
	})
	// Elections of knative.dev/pkg have this name.
	impl.Name = q.id
	if isLeaderOnly {
		q.buckets, q.gate = map[string]reconciler.Bucket{}, impl
		q.start()
	} else {
		impl.EnqueueKey(types.NamespacedName{})
	}
	return impl
}

// OnEveryReplica marks it for package leader.
func (everywhere[T]) OnEveryReplica() {}

func (e everywhere[T]) Reconcile(context.Context, string) error {
	e.start()
	return nil
}

// Drains marks it for package leader: at its end, a process leads until Shutdown returns.
func (leading[T]) Drains() {}

// Reconcile implements controller.Reconciler. The workers of the queue call it.
func (l leading[T]) Reconcile(ctx context.Context, key string) error {
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("parsing the key: %w", err)
	}
	l.deliver(ctx, name)
	return nil
}

// leads reports whether this replica calls the observer for a key. It is called with the lock.
func (q *queue[T]) leads(key types.NamespacedName) bool {
	for _, bucket := range q.buckets {
		if bucket.Has(key) {
			return true
		}
	}
	return false
}

// Promote implements reconciler.LeaderAware. The observer receives the objects of the bucket as if they had been listed now.
func (l leading[T]) Promote(b reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets[b.Name()] = b
	// Notifications wait until then. So a deletion that the cache does not have yet arrives after the object.
	for _, listed := range l.objects.List() {
		object, _, ok := objectOf[T](listed, l.mismatched)
		if !ok || !b.Has(cache.MetaObjectToName(object).AsNamespacedName()) {
			continue
		}
		l.change(cache.MetaObjectToName(object), func(r *record[T]) {
			l.take(r, object, true)
			r.ahead = r.exists
		})
	}
	return nil
}

// Demote implements reconciler.LeaderAware. Another replica calls the observer from now on, first with each object that exists. Other notifications,
// such as deletions, are dropped; if the process ends, it is part of the error of Shutdown.
func (l leading[T]) Demote(b reconciler.Bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.buckets, b.Name())
	for name, r := range l.records {
		if !b.Has(name.AsNamespacedName()) {
			continue
		}
		if l.ctx.Err() != nil && r.calling == "" && r.isPending() {
			l.lost++
		}
		delete(l.records, name)
	}
}
