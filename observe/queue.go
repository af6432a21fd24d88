/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"cmp"
	"container/list"
	"context"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
)

const (
	// drainTimeout bounds how long an observer is called after the context of the process has ended. It is short, because package hardening, for
	// example, lets that context end only once the workers are idle.
	drainTimeout = 5 * time.Second
	// stuckTimeout is the time that a call has to end after its context.
	stuckTimeout = time.Second
)

// queue delivers the notifications of an informer to an observer on workers. It implements cache.ResourceEventHandler for the informer.
type queue[T Object] struct {
	*observer[T]

	// startWorker lets one more worker call work.
	startWorker func()
	// calling is the context of the calls.
	calling context.Context //nolint:containedctx // the lifetime of the observer
	// detach ends what waits for the end of the process, and ended is closed when no call is waited for anymore.
	detach func() bool
	ended  chan struct{}
	// objects is the cache of the source.
	objects cache.Store
	limiter workqueue.TypedRateLimiter[types.NamespacedName]

	mu      sync.Mutex
	records map[cache.ObjectName]*record[T]
	// ready has the records with events that can be delivered now, in the order in which they became so.
	ready list.List
	// workers is the number of workers that were started, and calls the number of calls that are running. A call may outlive its record.
	workers, calls int
	// stopped reports whether the observer is no longer called.
	stopped bool
	// buckets are those that this replica leads, by name. One that has all keys is for an observer on every replica.
	buckets map[string]reconciler.Bucket
}

func newQueue[T Object](o *observer[T], buckets ...reconciler.Bucket) *queue[T] {
	q := &queue[T]{observer: o, records: map[cache.ObjectName]*record[T]{}, buckets: map[string]reconciler.Bucket{}, ended: make(chan struct{})}
	q.limiter = cmp.Or(o.options.RateLimiter, workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	for _, b := range buckets {
		q.buckets[b.Name()] = b
	}
	q.startWorker = func() { go q.work() }
	var cancel context.CancelFunc
	q.calling, cancel = context.WithCancel(logging.WithLogger(context.WithoutCancel(o.ctx), logging.FromContext(o.ctx).Named(o.id)))
	q.detach = context.AfterFunc(o.ctx, func() {
		time.AfterFunc(drainTimeout, func() {
			q.stop()
			cancel()
			time.AfterFunc(stuckTimeout, func() { close(q.ended) })
		})
	})
	return q
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

// change changes the record of an object. It is called with the lock.
func (q *queue[T]) change(name cache.ObjectName, f func(*record[T])) {
	if q.stopped || !q.leads(name) {
		return
	}
	r, ok := q.records[name]
	if !ok {
		r = &record[T]{name: name}
		q.records[name] = r
	}
	f(r)
	q.settle(r)
}

// settle is called, with the lock, after each change of a record.
func (q *queue[T]) settle(r *record[T]) {
	switch isReady := r.isReady(); {
	case isReady && r.waiting == nil:
		r.waiting = q.ready.PushBack(r)
		q.metrics.waits(1)
		if q.workers < q.options.Workers {
			q.workers++
			q.startWorker()
		}
	case !isReady:
		q.withdraw(r)
	}
	if r.isEmpty() {
		q.remove(r)
	}
}

// withdraw takes an object from those that wait. It is called with the lock.
func (q *queue[T]) withdraw(r *record[T]) {
	if r.waiting != nil {
		q.ready.Remove(r.waiting)
		r.waiting = nil
		q.metrics.waits(-1)
	}
}

func (q *queue[T]) remove(r *record[T]) {
	delete(q.records, r.name)
	q.limiter.Forget(r.name.AsNamespacedName())
}

// work delivers events until none is ready. So an event is pending only while a worker is busy or the observer fails, and a process whose workers are
// idle has delivered all.
func (q *queue[T]) work() {
	for {
		r, event, ok := q.begin()
		if !ok {
			return
		}
		q.end(r, event, q.call(q.calling, event))
	}
}

// begin returns the next event that the observer wants, and its record.
func (q *queue[T]) begin() (r *record[T], event Event[T], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for front := q.ready.Front(); front != nil; front = q.ready.Front() {
		r, _ = front.Value.(*record[T])
		q.withdraw(r)
		if event, ok = r.begin(); !ok {
			continue
		}
		if q.wants(&event) {
			q.calls++
			return r, event, true
		}
		r.skip(event)
		q.settle(r)
	}
	q.workers--
	return nil, event, false
}

// end notes how a call ended. An event that was not delivered is repeated after a delay.
func (q *queue[T]) end(r *record[T], event Event[T], err error) {
	isLast := isFinal(resultOf(err))
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls--
	if q.records[event.Name] != r {
		// This replica has ceased to lead the object.
		return
	}
	r.end(event, isLast)
	if isLast {
		q.limiter.Forget(event.Name.AsNamespacedName())
	} else if !r.isEmpty() {
		r.delayed = true
		isRequeue, delay := controller.IsRequeueKey(err)
		if !isRequeue {
			delay = q.limiter.When(event.Name.AsNamespacedName())
		}
		time.AfterFunc(delay, func() { q.repeat(r) })
	}
	q.settle(r)
}

// repeat ends the delay of an object.
func (q *queue[T]) repeat(r *record[T]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.records[r.name] == r && !q.stopped {
		r.delayed = false
		q.settle(r)
	}
}

// leads reports whether this replica calls the observer for an object. It is called with the lock.
func (q *queue[T]) leads(name cache.ObjectName) bool {
	for _, bucket := range q.buckets {
		if bucket.Has(name.AsNamespacedName()) {
			return true
		}
	}
	return false
}

func (q *queue[T]) stop() {
	q.detach()
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.stopped && q.ctx.Err() != nil {
		q.reportLost(func(r *record[T]) bool { return r.isPending() || r.calling != "" })
	}
	q.stopped = true
	for _, r := range q.records {
		q.withdraw(r)
	}
}

// reportLost logs how many objects have events that this process does not deliver anymore. It is called with the lock.
func (q *queue[T]) reportLost(isLost func(*record[T]) bool) {
	lost := 0
	for _, r := range q.records {
		if isLost(r) {
			lost++
		}
	}
	if lost > 0 {
		logging.FromContext(q.ctx).Warnw("An observer ends before it has received all events", "observer", q.id, "objects", lost)
	}
}

func (q *queue[T]) running() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.calls
}

// everywhere is the controller of an observer that runs on every replica. It is leader-aware because sharedmain requires it, and its leases have no effect.
type everywhere[T Object] struct {
	*queue[T]
	*reconciler.LeaderAwareFuncs
}

// leading is the controller of an observer that runs on the leader only. It implements reconciler.LeaderAware. Until a promotion it has no events.
type leading[T Object] struct{ *queue[T] }

// controllerOf returns the controller of a registered observer. Its name is that of its leases. Its keys are numbers, each of which starts a
// worker: of the objects that are waiting, the queue keeps no keys that it could not remove.
func controllerOf[T Object](ctx context.Context, d *definitionOf[T]) (*controller.Impl, *queue[T]) {
	var q *queue[T]
	var r controller.Reconciler
	if d.options.Scope == EveryReplica {
		q = newQueue(d.observer(ctx), reconciler.UniversalBucket())
		r = everywhere[T]{q, &reconciler.LeaderAwareFuncs{}}
	} else {
		q = newQueue(d.observer(ctx))
		r = leading[T]{q}
	}
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{
		WorkQueueName: d.id, Concurrency: d.options.Workers, Logger: logging.FromContext(ctx).Named(d.id),
	})
	started := 0
	q.startWorker = func() {
		started++
		impl.EnqueueKey(types.NamespacedName{Name: strconv.Itoa(started)})
	}
	return impl, q
}

// Reconcile implements controller.Reconciler. At the end of a process, package controller waits for it.
func (q *queue[T]) Reconcile(_ context.Context, key string) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.work()
	}()
	select {
	case <-done:
	case <-q.ended:
	}
	return controller.NewSkipKey(key) // it is not logged
}

// Promote implements reconciler.LeaderAware. The observer receives the objects of the bucket as if they had been listed now.
func (l leading[T]) Promote(b reconciler.Bucket, _ func(reconciler.Bucket, types.NamespacedName)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, again := l.buckets[b.Name()]; again {
		return nil // without an election, package controller promotes twice
	}
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
// such as deletions, are dropped.
func (l leading[T]) Demote(b reconciler.Bucket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reportLost(func(r *record[T]) bool { return r.isPending() && r.calling == "" && b.Has(r.name.AsNamespacedName()) })
	delete(l.buckets, b.Name())
	for name, r := range l.records {
		if b.Has(name.AsNamespacedName()) {
			l.withdraw(r)
			l.remove(r)
		}
	}
}
