/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"
)

// tracking is upstream's tracker, with the difference that it forgets a reference once a successful reconciliation of its object did not name it:
// upstream's forgets nothing before 30 hours. A reconciler must name all references of an object each time, before it returns an error, as Knative's do.
type tracking struct {
	tracker.Interface

	mu sync.Mutex
	// callback is set before an informer runs.
	callback func(types.NamespacedName)
	// references are those of each object, without their selectors.
	references map[types.NamespacedName]map[tracker.Reference]*reference
}

type reference struct {
	tracker.Reference

	// named is set if it was named since the last reconciliation has begun.
	named bool
}

func newTracking(lease time.Duration) *tracking {
	t := &tracking{references: map[types.NamespacedName]map[tracker.Reference]*reference{}}
	t.Interface = tracker.New(func(object types.NamespacedName) {
		if t.callback != nil {
			t.callback(object)
		}
	}, lease)
	return t
}

// begin is called before a reconciliation.
func (t *tracking) begin(object types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, ref := range t.references[object] {
		ref.named = false
	}
}

// end is called after it. Only a success proves that all references were named. Upstream's forgets all references of an object together, and enqueues
// the object for those that are added again, in case that they have changed in between.
func (t *tracking) end(object types.NamespacedName, succeeded bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	dropped := 0
	for key, ref := range t.references[object] {
		if succeeded && !ref.named {
			delete(t.references[object], key)
			dropped++
		}
	}
	if dropped == 0 {
		return
	}
	observer := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: object.Namespace, Name: object.Name}}
	t.Interface.OnDeletedObserver(observer)
	for _, ref := range t.references[object] {
		_ = t.Interface.TrackReference(ref.Reference, observer) // it was valid before
	}
	if len(t.references[object]) == 0 {
		delete(t.references, object)
	}
}

// OnDeletedObserver implements tracker.Interface. A replica that does not lead calls it, too, and does not reconcile the deleted object.
func (t *tracking) OnDeletedObserver(object any) {
	t.Interface.OnDeletedObserver(object)
	if accessor, err := kmeta.DeletionHandlingAccessor(object); err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.references, types.NamespacedName{Namespace: accessor.GetNamespace(), Name: accessor.GetName()})
	}
}

// Track implements tracker.Interface.
func (t *tracking) Track(ref corev1.ObjectReference, object any) error {
	return t.TrackReference(tracker.Reference{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}, object)
}

// TrackReference implements tracker.Interface.
func (t *tracking) TrackReference(ref tracker.Reference, object any) error {
	accessor, err := kmeta.DeletionHandlingAccessor(object)
	if err != nil {
		return err //nolint:wrapcheck // it is the result
	}
	if err := t.Interface.TrackReference(ref, object); err != nil {
		return err //nolint:wrapcheck // it is the result
	}
	observer, key := types.NamespacedName{Namespace: accessor.GetNamespace(), Name: accessor.GetName()}, ref
	key.Selector = nil // upstream has one for each object and kind
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.references[observer] == nil {
		t.references[observer] = map[tracker.Reference]*reference{}
	}
	t.references[observer][key] = &reference{ref, true}
	return nil
}
