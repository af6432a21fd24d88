/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"
)

// tracking is a tracker that forgets a reference once a successful reconciliation of its object did not name it. Upstream's forgets nothing before
// 30 hours, and a deletion walks through all references of all objects. A reconciler must name all references of an object each time, before it
// returns an error, as Knative's do.
type tracking struct {
	mu sync.Mutex
	// callback is set before an informer runs.
	callback func(types.NamespacedName)
	// observers are the objects that refer to one, by the reference without its selector.
	observers map[tracker.Reference]map[types.NamespacedName]labels.Selector
	// references are those of each object, with whether it was named since the last reconciliation has begun.
	references map[types.NamespacedName]map[tracker.Reference]bool
}

var _ tracker.Interface = (*tracking)(nil)

func newTracking() *tracking {
	return &tracking{
		observers:  map[tracker.Reference]map[types.NamespacedName]labels.Selector{},
		references: map[types.NamespacedName]map[tracker.Reference]bool{},
	}
}

// begin is called before a reconciliation.
func (t *tracking) begin(object types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for ref := range t.references[object] {
		t.references[object][ref] = false
	}
}

// end is called after it. Only a success proves that all references were named.
func (t *tracking) end(object types.NamespacedName, succeeded bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if succeeded {
		t.forget(object, false)
	}
}

// forget drops the references of an object, those that were named only if asked to. t.mu is held.
func (t *tracking) forget(object types.NamespacedName, all bool) {
	for ref, named := range t.references[object] {
		if named && !all {
			continue
		}
		delete(t.references[object], ref)
		if delete(t.observers[ref], object); len(t.observers[ref]) == 0 {
			delete(t.observers, ref)
		}
	}
	if len(t.references[object]) == 0 {
		delete(t.references, object)
	}
}

// Track implements tracker.Interface.
func (t *tracking) Track(ref corev1.ObjectReference, object any) error {
	return t.TrackReference(tracker.Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}, object)
}

// TrackReference implements tracker.Interface.
func (t *tracking) TrackReference(ref tracker.Reference, object any) error {
	// Upstream's validates the reference.
	if err := tracker.New(func(types.NamespacedName) {}, 0).TrackReference(ref, object); err != nil {
		return err //nolint:wrapcheck // it is the result
	}
	accessor, err := kmeta.DeletionHandlingAccessor(object)
	if err != nil {
		return err //nolint:wrapcheck // it is the result
	}
	observer := types.NamespacedName{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}
	selector := labels.Everything()
	if ref.Selector != nil {
		if selector, err = metav1.LabelSelectorAsSelector(ref.Selector); err != nil {
			return err //nolint:wrapcheck // validated above
		}
		ref.Selector = nil
	}
	if t.add(ref, observer, selector) && t.callback != nil {
		// The object may have changed before it was tracked.
		t.callback(observer)
	}
	return nil
}

// add reports whether the reference is new.
func (t *tracking) add(ref tracker.Reference, observer types.NamespacedName, selector labels.Selector) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.observers[ref] == nil {
		t.observers[ref] = map[types.NamespacedName]labels.Selector{}
	}
	if t.references[observer] == nil {
		t.references[observer] = map[tracker.Reference]bool{}
	}
	_, known := t.observers[ref][observer]
	t.observers[ref][observer] = selector
	t.references[observer][ref] = true
	return !known
}

// OnChanged implements tracker.Interface.
func (t *tracking) OnChanged(object any) {
	for _, observer := range t.GetObservers(object) {
		t.callback(observer)
	}
}

// GetObservers implements tracker.Interface.
func (t *tracking) GetObservers(object any) []types.NamespacedName {
	item, err := kmeta.DeletionHandlingAccessor(object)
	if err != nil {
		return nil
	}
	o := kmeta.ObjectReference(item)
	ref := tracker.Reference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	t.mu.Lock()
	defer t.mu.Unlock()
	observers := slices.Collect(maps.Keys(t.observers[ref]))
	ref.Name = ""
	for observer, selector := range t.observers[ref] {
		if selector.Matches(labels.Set(item.GetLabels())) {
			observers = append(observers, observer)
		}
	}
	return observers
}

// OnDeletedObserver implements tracker.Interface.
func (t *tracking) OnDeletedObserver(object any) {
	item, err := kmeta.DeletionHandlingAccessor(object)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(types.NamespacedName{Namespace: item.GetNamespace(), Name: item.GetName()}, true)
}
