/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// leaderAware is what every generated reconciler implements, and those of knative.dev/pkg for webhooks.
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
	why := w.triggers.take(object)

	ctx, end := w.triggers.kind.Begin(ctx, key, why)
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
	for _, other := range released {
		w.triggers.enqueue(other, trigger{cause: causeRetried})
	}
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
	return func() []string {
		texts := make([]string, 0, len(why))
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
	if enqueue == nil {
		return w.leaderAware.Promote(b, nil) //nolint:wrapcheck // it is the reconciler's result
	}
	return w.leaderAware.Promote(b, func(b reconciler.Bucket, key types.NamespacedName) { //nolint:wrapcheck // as above
		if b.Has(key) {
			w.triggers.enqueueLater(key, trigger{cause: causePromoted})
		}
	})
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

// backlogOf returns an empty backlog of a controller.
func backlogOf(impl *controller.Impl) *backlog {
	return newBacklog(func() bool { return impl.WorkQueue().Len() < impl.Concurrency }, impl.EnqueueKey)
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

// plan notes what a reconciliation that has ended leaves behind.
func (m *memory) plan(key types.NamespacedName, why trigger) { m.planned.Add(key, why) }

// take returns why the reconciliation that begins takes place, and forgets it.
func (m *memory) take(key types.NamespacedName) []trigger {
	m.mu.Lock()
	defer m.mu.Unlock()
	if noted, ok := m.noted.Get(key); ok {
		m.noted.Remove(key)
		return noted.([]trigger) //nolint:forcetypeassert // see note
	}
	if planned, ok := m.planned.Get(key); ok {
		m.planned.Remove(key)
		return []trigger{planned.(trigger)} //nolint:forcetypeassert // see plan
	}
	return []trigger{{cause: causeOther}}
}
