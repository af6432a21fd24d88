/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Guards postpone reconciliations. Controllers that have no generated reconciler have none.
type Guards struct {
	// Objects is the cache that the generated reconciler reads its objects from.
	Objects cache.KeyGetter
	// Expectations postpones an object until that cache has our own last writes of it.
	Expectations *expectations.Expectations
	// Failures delays an object whose requests fail.
	Failures *failures.Failures
}

// Wire puts what is common to all kinds in front of the reconciler of a controller, and lets t enqueue into its queue. It has to be
// called once, before anything runs. A reconciler that is not leader-aware stays as it is. What else a reconciler is, such as a webhook, has to
// be served before.
func (t *Triggers) Wire(impl *controller.Impl, guards Guards) {
	t.impl, t.backlog = impl, newBacklog(impl)
	if inner, ok := impl.Reconciler.(leaderAware); ok {
		impl.Reconciler = &wired{leaderAware: inner, triggers: t, guards: guards}
	}
}

// Complete wires a controller without guards, under the name of its queue, unless its constructor called Wire.
func Complete(impl *controller.Impl) {
	if _, isWired := impl.Reconciler.(*wired); !isWired {
		New(impl.Name).Wire(impl, Guards{})
	}
}

// leaderAware is what every generated reconciler implements, and those of knative.dev/pkg for webhooks.
type leaderAware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// wired is a reconciler with what is common to all kinds in front of it.
type wired struct {
	leaderAware

	triggers *Triggers
	guards   Guards
}

// Reconcile implements controller.Reconciler. A worker calls it for a key from the queue.
func (w *wired) Reconcile(ctx context.Context, key string) error {
	defer w.Feed()
	name, err := cache.ParseObjectName(key)
	if err != nil {
		return fmt.Errorf("parsing the key: %w", err)
	}
	object := name.AsNamespacedName()
	why := w.triggers.take(object)

	ctx, end := w.triggers.kind.Begin(ctx, key, why)
	err = w.reconcile(ctx, key, object)
	w.triggers.ended(object, end(err))
	return err
}

// reconcile calls the generated reconciler, unless it has to be postponed.
func (w *wired) reconcile(ctx context.Context, key string, name types.NamespacedName) error {
	if w.guards.Objects == nil {
		return w.leaderAware.Reconcile(ctx, key)
	}
	cached, exists, err := w.guards.Objects.GetByKey(key)
	if object, ok := cached.(metav1.Object); err == nil && exists && ok {
		if w.guards.Expectations.Behind(object) {
			// The event of our write enqueues the object. This is in case it never arrives.
			return controller.NewRequeueAfter(expectations.Patience)
		}
		ctx = w.guards.Expectations.Recording(ctx, object)
	}
	if wait := w.guards.Failures.Wait(name); wait > 0 {
		return controller.NewRequeueAfter(wait)
	}
	released, event := w.guards.Failures.Result(name, w.leaderAware.Reconcile(ctx, key))
	for _, other := range released {
		w.triggers.enqueue(other, trigger{cause: Retried})
	}
	return event
}

// Feed lets keys of the backlog into the queue. It is called whenever a key was taken from the queue.
func (w *wired) Feed() { w.triggers.backlog.Feed() }

// take returns a description of why the reconciliation of an object takes place, and forgets it.
func (t *Triggers) take(key types.NamespacedName) func() []string {
	why := t.memory.take(key)
	if why[0].cause == Other {
		t.count(why[0])
	}
	return func() []string {
		texts := make([]string, 0, len(why))
		for _, trigger := range why {
			texts = append(texts, trigger.String())
		}
		return texts
	}
}

// ended notes that the queue will deliver an object again by itself.
func (t *Triggers) ended(key types.NamespacedName, result telemetry.Result) {
	var next trigger
	switch result {
	case telemetry.ResultRequeue:
		next.cause = Requeued
	case telemetry.ResultConflict, telemetry.ResultError:
		next.cause = Retried
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
	if w.guards.Objects != nil {
		w.guards.Expectations.Promoted()
	}
	if enqueue == nil {
		return w.leaderAware.Promote(b, nil) //nolint:wrapcheck // it is the reconciler's result
	}
	return w.leaderAware.Promote(b, func(b reconciler.Bucket, key types.NamespacedName) { //nolint:wrapcheck // as above
		if b.Has(key) {
			w.triggers.enqueueLater(key, trigger{cause: Promoted})
		}
	})
}

// Demote implements reconciler.LeaderAware. Another process reconciles the objects of the bucket from now on.
func (w *wired) Demote(b reconciler.Bucket) {
	w.triggers.kind.Leads(b, false)
	w.triggers.backlog.Drop(b.Has)
	if w.guards.Objects != nil {
		w.guards.Failures.Forget(b.Has)
	}
	w.leaderAware.Demote(b)
}

// backlog holds keys in the order in which they were added, each once. It may be used by several goroutines.
type backlog struct {
	impl *controller.Impl

	mu      sync.Mutex
	waiting sets.Set[types.NamespacedName]
	order   []types.NamespacedName
}

// newBacklog returns an empty backlog for the queue of a controller. Feed has to be called whenever a reconciliation ends.
func newBacklog(impl *controller.Impl) *backlog {
	return &backlog{impl: impl, waiting: sets.New[types.NamespacedName]()}
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

// Feed moves keys into the queue while it is shorter than the number of workers. A queue that is shut down drops them.
func (b *backlog) Feed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.order) > 0 && b.impl.WorkQueue().Len() < b.impl.Concurrency {
		key := b.order[0]
		b.order = b.order[1:]
		b.waiting.Delete(key)
		b.impl.EnqueueKey(key)
	}
}

// Drop removes the keys that a filter accepts: another process reconciles them now.
func (b *backlog) Drop(filter func(types.NamespacedName) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = slices.DeleteFunc(b.order, filter)
	b.waiting = sets.New(b.order...)
}
