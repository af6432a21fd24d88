/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Triggers enqueues the objects of one controller. It may be used by several goroutines, after Wire. Use New.
type Triggers struct {
	impl    *controller.Impl
	kind    *telemetry.Kind
	memory  *memory
	backlog *backlog
}

// New returns the Triggers of the controller that reconciles a kind.
func New(kind string) *Triggers {
	return &Triggers{kind: telemetry.NewKind(kind), memory: newMemory(maxKeys, maxTriggers)}
}

// EnqueueConfigured enqueues, once the queue is short, each object of an informer that the filter accepts, because a ConfigMap has
// changed.
func (t *Triggers) EnqueueConfigured(configMap string, filter func(any) bool, informer cache.SharedInformer) {
	t.enqueueAll(trigger{cause: Configured, source: configMap}, filter, informer)
}

// EnqueueServed enqueues, once the queue is short, each object of an informer that the filter accepts, because the kinds that they
// refer to can be read now, or no longer.
func (t *Triggers) EnqueueServed(source string, filter func(any) bool, informer cache.SharedInformer) {
	t.enqueueAll(trigger{cause: Served, source: source}, filter, informer)
}

func (t *Triggers) enqueueAll(why trigger, filter func(any) bool, informer cache.SharedInformer) {
	for _, obj := range informer.GetStore().List() {
		if key, ok := keyOf(obj); ok && filter(obj) {
			t.enqueueLater(key, why)
		}
	}
}

// enqueue notes the trigger before the key is in the queue, where a worker may take it at once.
func (t *Triggers) enqueue(key types.NamespacedName, why trigger) {
	t.memory.note(key, why)
	t.count(why)
	t.impl.EnqueueKey(key)
}

func (t *Triggers) enqueueLater(key types.NamespacedName, why trigger) {
	t.memory.note(key, why)
	t.count(why)
	t.backlog.Add(key)
}

func (t *Triggers) count(why trigger) { t.kind.Triggered(string(why.cause), why.source) }

// Cause is why an object is enqueued. It is a label of a metric; docs/observability.md describes the values.
type Cause string

// The causes of events of an informer, of events of the process, and of the queue itself.
const (
	Listed   Cause = "listed"
	Added    Cause = "added"
	Updated  Cause = "updated"
	Deleted  Cause = "deleted"
	Resynced Cause = "resynced"

	Configured Cause = "configured"
	Served     Cause = "served"
	Promoted   Cause = "promoted"

	Requeued Cause = "requeued"
	Retried  Cause = "retried"
	Other    Cause = "other"
)

// Event is a change of an object that an informer watches. Its methods enqueue objects because of it.
type Event struct {
	// Object is the new state or, of a deleted object, the last known one. It may be a cache.DeletedFinalStateUnknown.
	Object any
	// Old is the state before an update or a resync, nil otherwise.
	Old any
	// Cause is the type of the event.
	Cause Cause

	source   string
	triggers *Triggers
}

// Handler returns a handler that calls f for each event of an informer. source is the kind that the informer watches. It is a
// label of a metric, so it must not be a name from the cluster.
func (t *Triggers) Handler(source string, f func(Event)) cache.ResourceEventHandler {
	handle := func(cause Cause, old, obj any) {
		f(Event{Object: obj, Old: old, Cause: cause, source: source, triggers: t})
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			if initial {
				handle(Listed, nil, obj)
			} else {
				handle(Added, nil, obj)
			}
		},
		UpdateFunc: func(old, obj any) {
			if sameVersion(old, obj) {
				handle(Resynced, old, obj)
			} else {
				handle(Updated, old, obj)
			}
		},
		DeleteFunc: func(obj any) { handle(Deleted, nil, obj) },
	}
}

// sameVersion reports whether an update is a resync.
func sameVersion(old, obj any) bool {
	before, ok := old.(metav1.Object)
	after, isObject := obj.(metav1.Object)
	return ok && isObject && before.GetResourceVersion() != "" && before.GetResourceVersion() == after.GetResourceVersion()
}

// Enqueue enqueues the object of the event.
func (e Event) Enqueue() { e.EnqueueObject(e.Object) }

// EnqueueObject enqueues another object, which may be a tombstone. It ignores what is no object.
func (e Event) EnqueueObject(obj any) {
	if key, ok := keyOf(obj); ok {
		e.EnqueueKey(key)
	}
}

// EnqueueKey enqueues an object by its name. A resync is not urgent.
func (e Event) EnqueueKey(key types.NamespacedName) {
	if e.Cause == Resynced {
		e.triggers.enqueueLater(key, e.trigger())
	} else {
		e.triggers.enqueue(key, e.trigger())
	}
}

// EnqueueAll enqueues, once the queue is short, each object of an informer that the filter accepts.
func (e Event) EnqueueAll(filter func(any) bool, informer cache.SharedInformer) {
	e.triggers.enqueueAll(e.trigger(), filter, informer)
}

func (e Event) trigger() trigger {
	key, _ := keyOf(e.Object)
	return trigger{cause: e.Cause, source: e.source, object: strings.TrimPrefix(key.String(), "/")}
}

// keyOf returns the name of an object, which may be a tombstone.
func keyOf(obj any) (types.NamespacedName, bool) {
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return types.NamespacedName{}, false
	}
	return cache.MetaObjectToName(accessor).AsNamespacedName(), true
}
