/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Triggers enqueues the objects of a reconciler, and counts and remembers why. It may be used by several goroutines, after Wire. Use NewTriggers.
type Triggers struct {
	impl    *controller.Impl
	kind    *telemetry.Kind
	memory  *memory
	backlog *backlog
	guards  Guards
	// objects is the cache that the generated reconciler reads its objects from, or nil.
	objects cache.KeyGetter
}

// NewTriggers returns the Triggers of the controller that reconciles a kind, which Wire connects with its queue.
func NewTriggers(kind string) *Triggers {
	return &Triggers{kind: telemetry.NewKind(kind), memory: newMemory(maxKeys, maxTriggers)}
}

// Enqueue enqueues objects because of an event that is not one of a source: Configured or Served. They wait until the queue is short. source is a
// label of a metric, so it must not be a name from the cluster.
func (t *Triggers) Enqueue(cause Cause, source string, keys []types.NamespacedName) {
	t.enqueue(t.backlog.Add, trigger{cause: cause, source: source}, keys...)
}

// Cause is the reason for which an object is enqueued. It is a label of a metric; docs/reference/metrics.md describes the values.
type Cause string

// The causes: events of a source, events of the process, and those of the queue itself.
const (
	causeListed   Cause = "listed"
	causeAdded    Cause = "added"
	causeUpdated  Cause = "updated"
	causeDeleted  Cause = "deleted"
	causeResynced Cause = "resynced"

	// Configured is a ConfigMap that has changed.
	Configured Cause = "configured"
	// Served is a kind that can be read now, or no longer.
	Served        Cause = "served"
	causePromoted Cause = "promoted"

	causeRequeued Cause = "requeued"
	causeRetried  Cause = "retried"
	causeOther    Cause = "other"
)

const (
	// maxKeys bounds for how many objects triggers are remembered, a few hundred bytes each.
	maxKeys = 1 << 16
	// maxTriggers is the maximum number of different triggers that the span of a reconciliation names.
	maxTriggers = 8
)

// trigger describes the event that enqueued an object: the cause, the kind or ConfigMap it is about, and the object. Only the cause is always set.
type trigger struct {
	cause          Cause
	source, object string
}

// Guards postpone reconciliations. The zero value postpones none.
type Guards struct {
	// Expectations postpones an object until the cache of the source of For has our own last writes of it.
	Expectations *expectations.Expectations
	// Failures delays an object whose requests fail.
	Failures *failures.Failures
}

// Watch connects a source with the queue of a reconciler. It is made by For, Owns, Tracks, Maps or When.
type Watch interface {
	wire(ctx context.Context, h *hub, t *Triggers) error
}

// Wire enqueues the keys of a reconciler when objects of sources change. The constructor of a controller calls it once. A deletion that was
// missed while a watch was interrupted enqueues, too, which it does not with the filters of knative.dev/pkg.
func Wire(ctx context.Context, impl *controller.Impl, watches ...Watch) error {
	return NewTriggers(impl.Name).Wire(ctx, impl, Guards{}, watches...)
}

// Wire connects the queue of a controller with sources, and puts what is common to all kinds in front of its reconciler: it counts
// reconciliations, records why they take place, and postpones them as the guards demand. The constructor of the controller calls it once. A
// reconciler that is not leader-aware stays as it is. One that is also a webhook does so until Complete, because it has to be served.
func (t *Triggers) Wire(ctx context.Context, impl *controller.Impl, guards Guards, watches ...Watch) error {
	h, err := hubFrom(ctx)
	if err != nil {
		return fmt.Errorf("controller %q: %w", impl.Name, err)
	}
	t.impl, t.backlog, t.guards = impl, backlogOf(impl), guards
	if _, isWebhook := impl.Reconciler.(interface{ Path() string }); isWebhook {
		h.mu.Lock()
		h.webhooks[impl] = t
		h.mu.Unlock()
	} else {
		t.wrap()
	}
	for _, w := range watches {
		err = errors.Join(err, w.wire(ctx, h, t))
	}
	if err != nil {
		return fmt.Errorf("controller %q: %w", impl.Name, err)
	}
	return nil
}

// Complete does for all controllers of a process what Wire does, once the webhooks among them are known. It counts the reconciliations of those
// that were not wired under the names of their queues. ctx is the context of the process.
func Complete(ctx context.Context, controllers ...*controller.Impl) error {
	h, err := hubFrom(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, impl := range controllers {
		switch impl.Reconciler.(type) {
		case *wired, station:
			continue
		}
		t, ok := h.webhooks[impl]
		if !ok {
			t = NewTriggers(impl.Name)
			t.impl, t.backlog = impl, backlogOf(impl)
		}
		t.wrap()
	}
	return nil
}

// wrap puts the Triggers in front of a reconciler that is leader-aware.
func (t *Triggers) wrap() {
	if inner, ok := t.impl.Reconciler.(leaderAware); ok {
		t.impl.Reconciler = &wired{leaderAware: inner, triggers: t}
	}
}

// For enqueues each object that changes and that all filters accept, also if they accepted the former state. The reconciler reads its objects
// from the cache of this source.
func For[T Object](source Source[T], filters ...func(T) bool) Watch {
	return watching[T]{source: source, isPrimary: true, filters: filters, keys: ownKey[T]}
}

// Owns enqueues the owner of an object that changes, if its controller is of the owner's kind. If the owner changes, both are enqueued.
func Owns[T Object](source Source[T], owner kmeta.OwnerRefable) Watch {
	isOwned := controller.FilterController(owner)
	return Maps(source, func(object T) []types.NamespacedName {
		if !isOwned(object) {
			return nil
		}
		return []types.NamespacedName{{Namespace: object.GetNamespace(), Name: metav1.GetControllerOf(object).Name}}
	})
}

// Maps enqueues what f returns for an object that changes. For an update it is called with both states, so that an object that is no longer
// referenced is enqueued, too.
func Maps[T Object](source Source[T], f func(T) []types.NamespacedName) Watch {
	return watching[T]{source: source, keys: ofBothStates(f)}
}

// When enqueues what f returns for an event of a source. f is called on the goroutine of the informer, so it must not send requests. If it panics,
// the process ends.
func When[T Object](source Source[T], f func(Event[T]) []types.NamespacedName) Watch {
	return watching[T]{source: source, keys: f}
}

// Tracks enqueues the objects that track one that changes by the tracker of the reconciler. kind is that of the source, since objects of
// informers do not carry it.
func Tracks[T Object](source Source[T], kind schema.GroupVersionKind) Watch {
	return watching[T]{source: source, tracked: kind}
}

type watching[T Object] struct {
	source Source[T]
	// isPrimary reports whether the reconciler reconciles the objects.
	isPrimary bool
	filters   []func(T) bool
	// keys returns the objects that an event affects. It is nil if the tracker knows them.
	keys    func(Event[T]) []types.NamespacedName
	tracked schema.GroupVersionKind

	// triggers and logger are those of the controller.
	triggers *Triggers
	logger   *zap.SugaredLogger
}

func (w watching[T]) wire(ctx context.Context, h *hub, t *Triggers) error {
	if w.source.source == nil {
		return errNoSource
	}
	w.triggers, w.logger = t, logging.FromContext(ctx)
	informer := w.source.ducks
	if informer == nil {
		cached, err := h.informerOf(ctx, w.source.source, t.impl.Name)
		if err != nil {
			return err
		}
		if w.isPrimary {
			t.objects = cached.GetIndexer()
		}
		if w.source.build != nil {
			// Workers read the cache. Injection waits for the others itself.
			h.await(t.impl.Name, cached, cached.HasSynced)
		}
		informer = cached
	}
	// The resync of an object covers all that it depends on.
	var resync time.Duration
	if w.isPrimary {
		resync = controller.GetResyncPeriod(ctx)
	}
	if _, err := informer.AddEventHandlerWithOptions(notifications[T]{w}, cache.HandlerOptions{ResyncPeriod: &resync}); err != nil {
		return fmt.Errorf("observing %s: %w", w.source.name, err)
	}
	return nil
}
