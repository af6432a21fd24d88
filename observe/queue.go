/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// queue delivers the notifications of an informer to an observer through the queue of a controller. It implements cache.ResourceEventHandler
// for the informer and controller.Reconciler for the workers.
type queue[T Object] struct {
	*observer[T]

	impl *controller.Impl
	// backlog holds the keys that wait. Those of the work queue could not be removed when their objects are deleted.
	backlog *backlog
	// objects is the cache of the source, once the queue is registered.
	objects cache.Store

	mu      sync.Mutex
	records map[cache.ObjectName]*record[T]
	// stopped is whether the observer is not called any more.
	stopped bool
	// buckets are those that this replica leads; nil if the observer runs on every replica.
	buckets map[string]reconciler.Bucket
}

// leading is the queue of an observer that runs on the leader only. It implements reconciler.LeaderAware.
type leading[T Object] struct{ *queue[T] }

// everywhere is the queue of an observer that runs on every replica.
type everywhere[T Object] struct{ *queue[T] }

// OnEveryReplica marks it for package leader.
func (everywhere[T]) OnEveryReplica() {}

func newQueue[T Object](o *observer[T]) *queue[T] {
	q := &queue[T]{observer: o, records: map[cache.ObjectName]*record[T]{}}
	var r controller.Reconciler = everywhere[T]{q}
	if o.options.leaderOnly() {
		q.buckets = map[string]reconciler.Bucket{}
		r = leading[T]{q}
	}
	q.impl = controller.NewContext(o.ctx, r, controller.ControllerOptions{
		WorkQueueName: o.name, Concurrency: max(o.options.Workers, 1), Logger: logging.FromContext(o.ctx).Named(o.name),
	})
	q.backlog = newBacklog(q.impl)
	return q
}

// OnAdd implements cache.ResourceEventHandler.
func (q *queue[T]) OnAdd(added any, listed bool) { q.notify(func() { q.set(added, listed) }) }

// OnUpdate implements cache.ResourceEventHandler.
func (q *queue[T]) OnUpdate(_, after any) { q.notify(func() { q.set(after, false) }) }

// OnDelete implements cache.ResourceEventHandler.
func (q *queue[T]) OnDelete(deleted any) { q.notify(func() { q.remove(deleted) }) }

func (q *queue[T]) notify(change func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	change()
}

// set takes the state of an object that exists. It is called with the lock.
func (q *queue[T]) set(notified any, listed bool) {
	object, _, ok := objectOf[T](notified, q.mismatched)
	if !ok {
		return
	}
	q.change(cache.MetaObjectToName(object), func(r *record[T]) {
		switch {
		case r.isOutdated(object):
		case !q.matches(object):
			r.remove(r.now, false)
		case q.options.Resync > 0 || !r.exists || !isResync(r.now, object):
			r.set(object, listed)
		}
	})
}

// remove takes the last state of an object that does not exist any more. It is called with the lock.
func (q *queue[T]) remove(notified any) {
	if object, unknown, ok := objectOf[T](notified, q.mismatched); ok {
		q.change(cache.MetaObjectToName(object), func(r *record[T]) { r.remove(object, unknown) })
	}
}

// change changes a record, and enqueues its key if there is an event to be delivered.
func (q *queue[T]) change(name cache.ObjectName, f func(*record[T])) {
	if !q.leads(name.AsNamespacedName()) {
		return
	}
	r, ok := q.records[name]
	if !ok {
		r = &record[T]{}
		q.records[name] = r
	}
	f(r)
	switch {
	case r.isEmpty():
		delete(q.records, name)
		q.backlog.Remove(name.AsNamespacedName())
	case r.isPending() && r.calling == 0 && !r.delayed:
		q.backlog.Add(name.AsNamespacedName())
	}
}

// leads is called with the lock.
func (q *queue[T]) leads(key types.NamespacedName) bool {
	if q.buckets == nil {
		return true
	}
	for _, bucket := range q.buckets {
		if bucket.Has(key) {
			return true
		}
	}
	return false
}

// Reconcile implements controller.Reconciler. A worker calls it for a key from the queue.
func (q *queue[T]) Reconcile(ctx context.Context, key string) error {
	defer q.backlog.Feed()
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("parsing the key: %w", err)
	}
	err = q.deliver(ctx, name)
	if q.ctx.Err() != nil {
		// The work queue accepts no key any more.
		for _, name := range q.pending() {
			if err := q.deliver(ctx, name); err != nil {
				logging.FromContext(ctx).Errorw("An observer failed during the shutdown", "observer", q.name, "key", name.String(), "error", err)
			}
		}
	}
	return err
}

// pending returns the objects with events that the observer is to be called with now.
func (q *queue[T]) pending() (names []cache.ObjectName) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, r := range q.records {
		if r.isPending() && r.calling == 0 && !r.delayed {
			names = append(names, name)
		}
	}
	return names
}

// deliver calls the observer with the events of an object that are pending.
func (q *queue[T]) deliver(ctx context.Context, name cache.ObjectName) error {
	for {
		event, ok := q.begin(name)
		if !ok {
			return nil
		}
		err := q.call(ctx, event)
		q.end(event, err)
		if err != nil || q.ctx.Err() == nil {
			return err
		}
	}
}

// begin returns the next event of an object that the observer wants.
func (q *queue[T]) begin(name cache.ObjectName) (event Event[T], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.records[name]
	if r == nil || r.calling != 0 || q.stopped || !q.leads(name.AsNamespacedName()) {
		return event, false
	}
	for {
		if event, ok = r.begin(name); !ok || q.wants(&event) {
			return event, ok
		}
		r.end(event, true)
		if r.isEmpty() {
			delete(q.records, name)
		}
	}
}

// end notes how a call ended.
func (q *queue[T]) end(event Event[T], err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := q.records[event.Name]
	if r == nil || r.calling == 0 {
		// Another replica leads the object now.
		return
	}
	isFinal := resultOf(err).isFinal()
	r.end(event, isFinal)
	switch {
	case r.isEmpty():
		delete(q.records, event.Name)
	case !isFinal:
		r.delayed = true
	case r.isPending():
		q.backlog.Add(event.Name.AsNamespacedName())
	}
}

// isIdle reports whether no call is running and none is about to begin.
func (q *queue[T]) isIdle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.records {
		if r.calling != 0 || r.isPending() && !r.delayed && !q.stopped {
			return false
		}
	}
	return true
}

// stop begins no call any more.
func (q *queue[T]) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
}

// undelivered returns the number of objects with events that have not been delivered.
func (q *queue[T]) undelivered() (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.records {
		if r.isPending() || r.calling != 0 {
			n++
		}
	}
	return n
}

// Promote implements reconciler.LeaderAware. The observer receives the objects of the bucket as if they had been listed now.
func (l leading[T]) Promote(b reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets[b.Name()] = b
	if l.objects == nil {
		return nil
	}
	// Notifications wait meanwhile. So a deletion that the cache does not have yet arrives after the object.
	for _, listed := range l.objects.List() {
		if object, _, ok := objectOf[T](listed, l.mismatched); ok && b.Has(cache.MetaObjectToName(object).AsNamespacedName()) {
			l.set(listed, true)
		}
	}
	return nil
}

// Demote implements reconciler.LeaderAware. Another replica calls the observer from now on.
func (l leading[T]) Demote(b reconciler.Bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.buckets, b.Name())
	for name := range l.records {
		if b.Has(name.AsNamespacedName()) {
			delete(l.records, name)
		}
	}
}
