/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

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

// ObjectOf returns the object of an event, if it is of a type. A deletion that happened while the watch was down arrives as a
// cache.DeletedFinalStateUnknown, which the filters of knative.dev/pkg drop; ObjectOf returns the last known state.
func ObjectOf[T any](obj any) (T, bool) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	typed, ok := obj.(T)
	return typed, ok
}

// IndexBy returns an index function for objects of a type.
func IndexBy[T any](values func(T) []string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		if typed, ok := obj.(T); ok {
			return values(typed), nil
		}
		return nil, nil
	}
}

// Indexed returns the objects of a type that an index finds. An index that was not added is a mistake of the program, and panics.
func Indexed[T any](indexer cache.Indexer, index, value string) []T {
	objs, err := indexer.ByIndex(index, value)
	if err != nil {
		panic(fmt.Sprintf("index %s: %v", index, err))
	}
	found := make([]T, 0, len(objs))
	for _, obj := range objs {
		if typed, ok := obj.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

const (
	// maxKeys bounds for how many objects triggers are remembered, a few hundred bytes each.
	maxKeys = 1 << 16
	// maxTriggers is how many different triggers of one reconciliation its span names.
	maxTriggers = 8
)

// trigger is why an object was enqueued: the cause, the kind or ConfigMap it is about, and the object. Only the cause is always set.
type trigger struct {
	cause          Cause
	source, object string
}

// String is for people: "updated Service default/target".
func (t trigger) String() string {
	return strings.Join(strings.Fields(string(t.cause)+" "+t.source+" "+t.object), " ")
}

// memory holds why objects are in the queue. It may be used by several goroutines.
type memory struct {
	triggers int

	mu sync.Mutex
	// noted has the different triggers since an object's last reconciliation began, of type []trigger.
	noted *lru.Cache
	// planned has the trigger that the last reconciliation left behind, a retry or a requeue, which may be due much later. Events in
	// between lead to reconciliations of their own.
	planned *lru.Cache
}

func newMemory(keys, triggers int) *memory {
	return &memory{triggers: triggers, noted: lru.New(keys), planned: lru.New(keys)}
}

// note must be called before the object is put into the queue.
func (m *memory) note(key types.NamespacedName, why trigger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, _ := m.noted.Get(key)
	noted, _ := known.([]trigger)
	if len(noted) < m.triggers && !slices.Contains(noted, why) {
		m.noted.Add(key, append(noted, why))
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
	return []trigger{{cause: Other}}
}
