/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"
)

// tracking is a tracker that forgets a reference once a successful reconciliation of its object did not name it: upstream's forgets nothing before 30
// hours, and walks all references to forget those of a deleted object. A reconciler must name all references of an object each time, before it
// returns an error, as Knative's do.
type tracking struct {
	mu sync.Mutex
	// callback is set before an informer runs.
	callback func(types.NamespacedName)
	// observers are the objects that name a reference, with its selector. The keys are without selectors: an object has one for each kind, as upstream.
	observers map[tracker.Reference]map[types.NamespacedName]labels.Selector
	// references are those of each object, and named those that it has named since its last reconciliation ended.
	references, named map[types.NamespacedName][]tracker.Reference
}

func newTracking() *tracking {
	return &tracking{
		observers:  map[tracker.Reference]map[types.NamespacedName]labels.Selector{},
		references: map[types.NamespacedName][]tracker.Reference{},
		named:      map[types.NamespacedName][]tracker.Reference{},
	}
}

// end is called after a reconciliation. Only a success proves that all references were named.
func (t *tracking) end(object types.NamespacedName, succeeded bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if succeeded {
		t.forget(object, t.named[object])
	}
	delete(t.named, object)
}

// OnDeletedObserver implements tracker.Interface. A replica that does not lead calls it, too, and does not reconcile the deleted object.
func (t *tracking) OnDeletedObserver(object any) {
	if accessor, err := kmeta.DeletionHandlingAccessor(object); err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.forget(cache.MetaObjectToName(accessor).AsNamespacedName(), nil)
	}
}

// forget forgets the references of an object, except for some.
func (t *tracking) forget(observer types.NamespacedName, except []tracker.Reference) {
	t.references[observer] = slices.DeleteFunc(t.references[observer], func(ref tracker.Reference) bool {
		if slices.Contains(except, ref) {
			return false
		}
		if delete(t.observers[ref], observer); len(t.observers[ref]) == 0 {
			delete(t.observers, ref)
		}
		return true
	})
	if len(t.references[observer]) == 0 {
		delete(t.references, observer)
	}
}

// Track implements tracker.Interface.
func (t *tracking) Track(ref corev1.ObjectReference, object any) error {
	return t.TrackReference(tracker.Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}, object)
}

// TrackReference implements tracker.Interface. A new reference enqueues its object, in case that the referent has changed since it was read.
func (t *tracking) TrackReference(ref tracker.Reference, object any) error {
	if err := tracker.New(func(types.NamespacedName) {}, 0).TrackReference(ref, object); err != nil {
		return err //nolint:wrapcheck // upstream's validation
	}
	accessor, _ := kmeta.DeletionHandlingAccessor(object) // it is valid, as the selector
	selector, _ := metav1.LabelSelectorAsSelector(ref.Selector)
	observer := cache.MetaObjectToName(accessor).AsNamespacedName()
	ref.Selector = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.references[observer], ref) {
		t.references[observer] = append(t.references[observer], ref)
		if t.callback != nil {
			t.callback(observer)
		}
	}
	t.named[observer] = append(t.named[observer], ref)
	if t.observers[ref] == nil {
		t.observers[ref] = map[types.NamespacedName]labels.Selector{}
	}
	t.observers[ref][observer] = selector
	return nil
}

// OnChanged implements tracker.Interface.
func (t *tracking) OnChanged(object any) {
	for _, observer := range t.GetObservers(object) {
		t.callback(observer)
	}
}

// GetObservers implements tracker.Interface.
func (t *tracking) GetObservers(object any) (observers []types.NamespacedName) {
	accessor, err := kmeta.DeletionHandlingAccessor(object)
	if err != nil {
		return nil
	}
	o := kmeta.ObjectReference(accessor)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, name := range []string{o.Name, ""} {
		for observer, selector := range t.observers[tracker.Reference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: name}] {
			if name != "" || selector.Matches(labels.Set(accessor.GetLabels())) {
				observers = append(observers, observer)
			}
		}
	}
	return observers
}
