/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"cmp"
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

// queue delivers the notifications of an informer to an observer on its own workers, which run until stop: those of a controller leave when the
// context of the process ends, although notifications still arrive. It implements cache.ResourceEventHandler for the informer.
type queue[T Object] struct {
	*observer[T]

	work workqueue.TypedRateLimitingInterface[types.NamespacedName]
	// backlog holds the keys that wait. Those of the work queue could not be removed when their objects are deleted.
	backlog *backlog
	// gate has the reconciler that deliveries pass, so that they only take place while this replica leads; nil if the observer runs on every replica.
	gate *controller.Impl
	// calling is the context of the calls.
	calling context.Context //nolint:containedctx // the lifetime of the observer
	// objects is the cache of the source.
	objects cache.Store

	mu      sync.Mutex
	records map[cache.ObjectName]*record[T]
	// calls is the number of calls that are running. A call may outlive its record.
	calls int
	// stopped reports whether the observer is no longer called.
	stopped bool
	// buckets are those that this replica leads, by name. One that has all keys is for an observer on every replica.
	buckets map[string]reconciler.Bucket
	// lost is the number of objects whose events were pending when a replica that ends ceased to lead.
	lost int
}

func newQueue[T Object](o *observer[T]) *queue[T] {
	limiter := cmp.Or(o.options.RateLimiter, workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	q := &queue[T]{
		observer: o, records: map[cache.ObjectName]*record[T]{}, buckets: map[string]reconciler.Bucket{"": reconciler.UniversalBucket()},
		calling: logging.WithLogger(context.WithoutCancel(o.ctx), logging.FromContext(o.ctx).Named(o.id)),
		work:    workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: o.id}),
	}
	q.backlog = newBacklog(func() bool { return q.work.Len() < q.options.Workers }, q.work.Add)
	return q
}

// start starts the workers.
func (q *queue[T]) start() {
	for range q.options.Workers {
		go q.run()
	}
}

func (q *queue[T]) run() {
	for {
		key, isShut := q.work.Get()
		if isShut {
			return
		}
		if q.gate != nil {
			_ = q.gate.Reconciler.Reconcile(q.calling, cache.ObjectName(key).String())
		} else {
			q.deliver(q.calling, cache.ObjectName(key))
		}
		q.work.Done(key)
		q.backlog.Feed()
	}
}

func (q *queue[T]) OnAdd(added any, listed bool) { q.set(nil, added, listed) }

func (q *queue[T]) OnUpdate(before, after any) { q.set(before, after, false) }

func (q *queue[T]) OnDelete(deleted any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if object, unknown, ok := objectOf[T](deleted, q.mismatched); ok {
		q.change(cache.MetaObjectToName(object), func(r *record[T]) { r.remove(object, unknown) })
	}
}

// set takes the state of an object that exists, and the one before it, or nil.
func (q *queue[T]) set(before, after any, listed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if object, _, ok := objectOf[T](after, q.mismatched); ok {
		q.change(cache.MetaObjectToName(object), func(r *record[T]) {
			if !r.isOutdated(before, object) {
				q.take(r, object, listed)
			}
		})
	}
}

func (q *queue[T]) take(r *record[T], object T, listed bool) {
	switch {
	case !q.matches(object):
		r.remove(r.now, false)
	case q.options.Resync > 0 || !r.exists || !isResync(r.now, object):
		r.set(object, listed)
	}
}

// change changes a record, and enqueues its key if there is an event to be delivered. It is called with the lock.
func (q *queue[T]) change(name cache.ObjectName, f func(*record[T])) {
	if q.stopped || !q.leads(name.AsNamespacedName()) {
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
	case r.isReady():
		q.backlog.Add(name.AsNamespacedName())
	}
}

// deliver calls the observer with the next event of an object. The queue remembers failures of an object until there is nothing to repeat.
func (q *queue[T]) deliver(ctx context.Context, name cache.ObjectName) {
	r, event, ok := q.begin(name)
	if !ok || q.end(r, event, q.call(ctx, event)) {
		q.work.Forget(name.AsNamespacedName())
	}
}

// begin returns the next event of an object that the observer wants, and its record.
func (q *queue[T]) begin(name cache.ObjectName) (r *record[T], event Event[T], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r = q.records[name]
	if r == nil || r.calling != "" || q.stopped || !q.leads(name.AsNamespacedName()) {
		return nil, event, false
	}
	for {
		if event, ok = r.begin(name); !ok {
			return nil, event, false
		}
		if q.wants(&event) {
			q.calls++
			return r, event, true
		}
		r.skip(event)
		if r.isEmpty() {
			delete(q.records, name)
		}
	}
}

// end notes how a call ended, and reports whether it is not repeated.
func (q *queue[T]) end(r *record[T], event Event[T], err error) (isLast bool) {
	isLast = isFinal(resultOf(err))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls--
	if q.records[event.Name] != r {
		// This replica has ceased to lead the object.
		return true
	}
	r.end(event, isLast)
	switch key := event.Name.AsNamespacedName(); {
	case r.isEmpty():
		delete(q.records, event.Name)
		return true
	case !isLast:
		r.delayed = true
		if ok, delay := controller.IsRequeueKey(err); ok {
			q.work.AddAfter(key, delay)
		} else {
			q.work.AddRateLimited(key)
		}
	case r.isPending():
		q.backlog.Add(key)
	}
	return isLast
}

func (q *queue[T]) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	q.work.ShutDown()
}

func (q *queue[T]) drained() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.calls > 0 {
		return false
	}
	for _, r := range q.records {
		if r.isReady() && !q.stopped {
			return false
		}
	}
	q.stopped = true
	q.work.ShutDown()
	return true
}

func (q *queue[T]) undelivered() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.calls + q.lost
	for _, r := range q.records {
		if r.isPending() && r.calling == "" {
			n++
		}
	}
	return n
}
