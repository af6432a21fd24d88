/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tracker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"
)

// Tracker implements tracker.Interface. It may be used by several goroutines. Use New.
type Tracker struct {
	enqueue func(types.NamespacedName)

	mu sync.Mutex
	// observers holds the references of each object.
	observers map[types.NamespacedName]*observer
	// targets holds who refers to an object, or with an empty name, to objects of a kind in a namespace.
	targets map[corev1.ObjectReference]map[observation]labels.Selector
}

var _ tracker.Interface = (*Tracker)(nil)

// reference is what an object refers to. One by name has an empty selector.
type reference struct {
	target   corev1.ObjectReference
	selector string
}

// observation is an object that refers to a target, and its selector.
type observation struct {
	observer types.NamespacedName
	selector string
}

type observer struct {
	// references maps each reference to the reconciliation that tracked it last.
	references map[reference]int
	// reconciliation counts the reconciliations.
	reconciliation int
}

// New returns a tracker without references. enqueue adds the key of an object to the queue.
func New(enqueue func(types.NamespacedName)) *Tracker {
	return &Tracker{
		enqueue:   enqueue,
		observers: map[types.NamespacedName]*observer{},
		targets:   map[corev1.ObjectReference]map[observation]labels.Selector{},
	}
}

// Begin is called before an object is reconciled.
func (t *Tracker) Begin(key types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o, ok := t.observers[key]; ok {
		o.reconciliation++
	}
}

// End is called with the result of a reconciliation. It drops the references that were not tracked again, except after a
// reconciliation that ended with an error or a requeue before it tracked anything: it may have been postponed.
func (t *Tracker) End(key types.NamespacedName, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.observers[key]
	if !ok {
		return
	}
	var stale []reference
	for ref, last := range o.references {
		if last != o.reconciliation {
			stale = append(stale, ref)
		}
	}
	if err == nil || len(stale) < len(o.references) {
		t.drop(key, stale...)
	}
}

// Track implements tracker.Interface.
func (t *Tracker) Track(ref corev1.ObjectReference, obj any) error {
	return t.TrackReference(tracker.Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}, obj)
}

// TrackReference implements tracker.Interface. A reference that is new enqueues the object once, so that no change is lost if the
// other object was read before it was tracked.
func (t *Tracker) TrackReference(ref tracker.Reference, obj any) error {
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return fmt.Errorf("tracking for %T: %w", obj, err)
	}
	if (ref.Name == "") == (ref.Selector == nil) {
		return errors.New("a reference must have either a name or a selector")
	}
	selector := labels.Everything()
	if ref.Selector != nil {
		if selector, err = metav1.LabelSelectorAsSelector(ref.Selector); err != nil {
			return fmt.Errorf("invalid selector: %w", err)
		}
	}
	if key := keyOf(accessor); t.add(key, ref.ObjectReference(), selector) {
		t.enqueue(key)
	}
	return nil
}

// add returns whether the reference is new.
func (t *Tracker) add(key types.NamespacedName, target corev1.ObjectReference, selector labels.Selector) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	o, ok := t.observers[key]
	if !ok {
		o = &observer{references: map[reference]int{}}
		t.observers[key] = o
	}
	ref := reference{target, selector.String()}
	_, known := o.references[ref]
	o.references[ref] = o.reconciliation
	if t.targets[target] == nil {
		t.targets[target] = map[observation]labels.Selector{}
	}
	t.targets[target][observation{key, ref.selector}] = selector
	return !known
}

func (t *Tracker) drop(key types.NamespacedName, references ...reference) {
	for _, ref := range references {
		delete(t.observers[key].references, ref)
		if delete(t.targets[ref.target], observation{key, ref.selector}); len(t.targets[ref.target]) == 0 {
			delete(t.targets, ref.target)
		}
	}
	if len(t.observers[key].references) == 0 {
		delete(t.observers, key)
	}
}

// OnChanged implements tracker.Interface.
func (t *Tracker) OnChanged(obj any) {
	for _, key := range t.GetObservers(obj) {
		t.enqueue(key)
	}
}

// GetObservers implements tracker.Interface. Objects from typed informers lack their kind; see controller.EnsureTypeMeta.
func (t *Tracker) GetObservers(obj any) []types.NamespacedName {
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return nil
	}
	named := kmeta.ObjectReference(accessor)
	selecting := named
	selecting.Name = ""
	found := sets.New[types.NamespacedName]()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, target := range []corev1.ObjectReference{named, selecting} {
		for o, selector := range t.targets[target] {
			if selector.Matches(labels.Set(accessor.GetLabels())) {
				found.Insert(o.observer)
			}
		}
	}
	return found.UnsortedList()
}

// OnDeletedObserver implements tracker.Interface.
func (t *Tracker) OnDeletedObserver(obj any) {
	accessor, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return
	}
	key := keyOf(accessor)
	t.mu.Lock()
	defer t.mu.Unlock()
	if o, ok := t.observers[key]; ok {
		t.drop(key, slices.Collect(maps.Keys(o.references))...)
	}
}

func keyOf(o metav1.Object) types.NamespacedName { return cache.MetaObjectToName(o).AsNamespacedName() }
