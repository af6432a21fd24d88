/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// leaderAware is implemented by every generated reconciler, and by those of knative.dev/pkg for webhooks.
type leaderAware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// wired is a reconciler with what is common to all kinds in front of it.
type wired struct {
	leaderAware

	triggers *Triggers
}

// Reconcile implements controller.Reconciler. A worker calls it for a key from the queue.
func (w *wired) Reconcile(ctx context.Context, key string) error {
	defer w.Feed()
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("parsing the key: %w", err)
	}
	object := name.AsNamespacedName()
	ctx, end := w.triggers.kind.Begin(ctx, key, w.triggers.take(object))
	err = w.reconcile(ctx, key, object)
	w.triggers.ended(object, end(err))
	return err
}

// reconcile calls the generated reconciler, unless it has to be postponed.
func (w *wired) reconcile(ctx context.Context, key string, name types.NamespacedName) error {
	guards := w.triggers.guards
	if object, ok := w.triggers.cached(key); ok && guards.Expectations != nil {
		if guards.Expectations.Behind(object) {
			// The event of our write enqueues the object. This is in case it never arrives.
			return controller.NewRequeueAfter(expectations.Patience)
		}
		ctx = guards.Expectations.Recording(ctx, object)
	}
	if guards.Failures == nil {
		return w.leaderAware.Reconcile(ctx, key)
	}
	if wait := guards.Failures.Wait(name); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	released, event := guards.Failures.Result(name, w.leaderAware.Reconcile(ctx, key))
	w.triggers.enqueue(w.triggers.impl.EnqueueKey, trigger{cause: causeRetried}, released...)
	return event
}

// cached returns an object as the generated reconciler reads it.
func (t *Triggers) cached(key string) (metav1.Object, bool) {
	if t.objects == nil {
		return nil, false
	}
	cached, exists, err := t.objects.GetByKey(key)
	object, ok := cached.(metav1.Object)
	return object, ok && exists && err == nil
}

// Feed lets keys of the backlog into the queue. It is called whenever a key was taken from the queue.
func (w *wired) Feed() { w.triggers.backlog.Feed() }

// take returns a description of why the reconciliation of an object takes place, and forgets it.
func (t *Triggers) take(key types.NamespacedName) func() []string {
	why := t.memory.take(key)
	if why[0].cause == causeOther {
		t.count(why[0])
	}
	return func() (texts []string) {
		for _, trigger := range why {
			texts = append(texts, trigger.String())
		}
		return texts
	}
}

// String is for people: "updated Service default/target".
func (t trigger) String() string {
	return strings.Join(strings.Fields(string(t.cause)+" "+t.source+" "+t.object), " ")
}

// ended notes that the queue will deliver an object again by itself.
func (t *Triggers) ended(key types.NamespacedName, result telemetry.Result) {
	var next trigger
	switch result {
	case telemetry.ResultRequeue:
		next.cause = causeRequeued
	case telemetry.ResultConflict, telemetry.ResultError:
		next.cause = causeRetried
	case telemetry.ResultSuccess, telemetry.ResultSkip, telemetry.ResultPermanentError:
		return
	}
	t.memory.plan(key, next)
	t.count(next)
}

// Promote implements reconciler.LeaderAware. The keys of the bucket go into the backlog instead of the slow lane, where enqueue adds
// them. What another process wrote before is not known.
func (w *wired) Promote(b reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
	w.triggers.kind.Leads(b, true)
	if e := w.triggers.guards.Expectations; e != nil {
		e.Promoted()
	}
	if enqueue != nil {
		enqueue = func(b reconciler.Bucket, key types.NamespacedName) {
			if b.Has(key) {
				w.triggers.enqueue(w.triggers.backlog.Add, trigger{cause: causePromoted}, key)
			}
		}
	}
	return w.leaderAware.Promote(b, enqueue) //nolint:wrapcheck // it is the reconciler's result
}

// Demote implements reconciler.LeaderAware. Another process reconciles the objects of the bucket from now on.
func (w *wired) Demote(b reconciler.Bucket) {
	w.triggers.kind.Leads(b, false)
	w.triggers.backlog.Drop(b.Has)
	if f := w.triggers.guards.Failures; f != nil {
		f.Forget(b.Has)
	}
	w.leaderAware.Demote(b)
}

// backlog holds keys in the order in which they were added, each once. It may be used by several goroutines.
type backlog struct {
	// isShort reports whether the queue is.
	isShort func() bool
	enqueue func(types.NamespacedName)

	mu      sync.Mutex
	waiting sets.Set[types.NamespacedName]
	// order has the keys from index first on. Those that do not wait any more are skipped.
	order []types.NamespacedName
	first int
}

// mostStale is the maximum number of keys that are kept although they no longer wait, in addition to as many as wait.
const mostStale = 64

// newBacklog returns an empty backlog of a queue. Feed has to be called whenever the queue has become shorter.
func newBacklog(isShort func() bool, enqueue func(types.NamespacedName)) *backlog {
	return &backlog{isShort: isShort, enqueue: enqueue, waiting: sets.New[types.NamespacedName]()}
}

// backlogOf returns an empty backlog of a controller.
func backlogOf(impl *controller.Impl) *backlog {
	return newBacklog(func() bool { return impl.WorkQueue().Len() < impl.Concurrency }, impl.EnqueueKey)
}

// Add enqueues a key once the queue is short.
func (b *backlog) Add(key types.NamespacedName) {
	b.mu.Lock()
	if !b.waiting.Has(key) {
		b.waiting.Insert(key)
		b.order = append(b.order, key)
	}
	b.mu.Unlock()
	b.Feed()
}

// Remove removes a key: there is nothing to be done for it any more.
func (b *backlog) Remove(key types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting.Delete(key)
	if len(b.order)-b.first > 2*b.waiting.Len()+mostStale {
		b.compact()
	}
}

// Drop removes the keys that a filter accepts: another process reconciles them now.
func (b *backlog) Drop(filter func(types.NamespacedName) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.waiting, func(key types.NamespacedName, _ sets.Empty) bool { return filter(key) })
	b.compact()
}

// compact removes keys that do not wait, and repetitions of those that do. It is called with the lock.
func (b *backlog) compact() {
	kept := sets.New[types.NamespacedName]()
	b.order = slices.DeleteFunc(b.order[b.first:], func(key types.NamespacedName) bool {
		stale := !b.waiting.Has(key) || kept.Has(key)
		kept.Insert(key)
		return stale
	})
	b.first = 0
}

// Feed moves keys into the queue while it is shorter than the number of workers. A queue that is shut down drops them.
func (b *backlog) Feed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.first < len(b.order) && b.isShort() {
		key := b.order[b.first]
		b.first++
		if b.waiting.Has(key) {
			b.waiting.Delete(key)
			b.enqueue(key)
		}
	}
	if b.first == len(b.order) {
		b.order, b.first = b.order[:0], 0
	}
}
