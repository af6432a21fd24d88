/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package expectations

import (
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"knative.dev/pkg/kmeta"
)

// Patience is how long a cache may be behind a write before it is trusted again. It is reached only if the event of the write never
// arrives, for example because etcd was restored from a backup and counts its versions again.
const Patience = 30 * time.Second

// Writes remembers what a reconciler last wrote of its own objects, and of the children that those control, until the cache has it.
// It may be used by several goroutines. Use NewWrites.
type Writes struct {
	clock    clock.PassiveClock
	children func(owner metav1.Object) []metav1.Object

	mu       sync.Mutex
	families map[types.NamespacedName]*family
}

// family is what is known of one object of the reconciler and of its children.
type family struct {
	owner types.UID
	// awaited holds the last write of each object that the cache may lack.
	awaited        map[types.UID]write
	doubtful, read bool
}

type write struct {
	at time.Time
	// arrived reports whether a cache has the write or a later one. An object that the cache lacks is nil.
	arrived func(cached metav1.Object) bool
}

// NewWrites returns a memory without any write. children returns the children of an object as the cache of the reconciler has them;
// it is nil for a reconciler that does not write to children.
func NewWrites(children func(owner metav1.Object) []metav1.Object) *Writes {
	if children == nil {
		children = func(metav1.Object) []metav1.Object { return nil }
	}
	return &Writes{clock: clock.RealClock{}, children: children, families: map[types.NamespacedName]*family{}}
}

// Record notes an own object as the API server returned it for a write.
func (w *Writes) Record(written metav1.Object) {
	version, least := written.GetResourceVersion(), 0
	if written.GetDeletionTimestamp() != nil && len(written.GetFinalizers()) == 0 {
		// The write removed the last finalizer, and so deleted the object. The API server returns the version from before it.
		least = 1
	}
	w.await(written, written.GetUID(), func(cached metav1.Object) bool { return order(cached, version) >= least })
}

// Written notes a child as the API server returned it for a write or a read.
func (w *Writes) Written(owner, child metav1.Object) {
	if child.GetDeletionTimestamp() != nil {
		// It may have left the cache already, and would be awaited in vain.
		w.Deleted(owner, child.GetUID())
		return
	}
	version := child.GetResourceVersion()
	w.await(owner, child.GetUID(), func(cached metav1.Object) bool { return cached != nil && order(cached, version) >= 0 })
}

// Deleted notes that the API server has accepted the deletion of a child, or does not have it anymore.
func (w *Writes) Deleted(owner metav1.Object, child types.UID) {
	w.await(owner, child, func(cached metav1.Object) bool { return cached == nil || cached.GetDeletionTimestamp() != nil })
}

// order compares the version of a cached object with another one. Resource versions of one resource can be compared since
// Kubernetes 1.35 (KEP-5504). One that cannot be compared counts as later, because it must not stop anything.
func order(cached metav1.Object, version string) int {
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), version)
	if err != nil {
		return 1
	}
	return order
}

func (w *Writes) await(owner metav1.Object, object types.UID, arrived func(metav1.Object) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.familyOf(owner).awaited[object] = write{at: w.clock.Now(), arrived: arrived}
}

// Doubt notes that a write of a child may have been made or not, because its answer was lost. Doubtful is true until Read is called.
func (w *Writes) Doubt(owner metav1.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.familyOf(owner).doubtful = true
}

// Doubtful reports whether the cache cannot be relied on: after Doubt, or after a write did not arrive within Patience.
func (w *Writes) Doubtful(owner metav1.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.known(owner)
	return f != nil && f.doubtful
}

// Read notes all children as the API server has just listed them. The cache is behind until it has the same.
func (w *Writes) Read(owner metav1.Object, live []metav1.Object) {
	for _, child := range w.children(owner) {
		w.Deleted(owner, child.GetUID())
	}
	for _, child := range live {
		w.Written(owner, child)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.familyOf(owner)
	f.doubtful, f.read = false, true
}

// WasRead reports whether the children were read from the API server since this process began to write. Until then, the cache may
// lack what another process wrote before.
func (w *Writes) WasRead(owner metav1.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.known(owner)
	return f != nil && f.read
}

// Promoted is called when the process begins to write, since another one wrote before.
func (w *Writes) Promoted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.families)
}

// Removed is called with a child, or its tombstone, that has left the cache, where a write to it will never arrive.
func (w *Writes) Removed(obj any) {
	child, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return
	}
	owner := metav1.GetControllerOfNoCopy(child)
	if owner == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f, ok := w.families[types.NamespacedName{Namespace: child.GetNamespace(), Name: owner.Name}]; ok {
		delete(f.awaited, child.GetUID())
	}
}

// Forget drops what is known of an object that does not exist anymore.
func (w *Writes) Forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.families, key)
}

// Behind reports whether the cache, which has the object so, lacks a write of it or of one of its children.
func (w *Writes) Behind(cached metav1.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.known(cached)
	if f == nil || len(f.awaited) == 0 {
		return false
	}
	objects := map[types.UID]metav1.Object{cached.GetUID(): cached}
	for _, child := range w.children(cached) {
		objects[child.GetUID()] = child
	}
	maps.DeleteFunc(f.awaited, func(object types.UID, last write) bool {
		if last.arrived(objects[object]) {
			return true
		}
		isOverdue := w.clock.Since(last.at) >= Patience
		f.doubtful = f.doubtful || isOverdue
		return isOverdue
	})
	if len(f.awaited) == 0 && !f.doubtful && !f.read {
		delete(w.families, keyOf(cached))
	}
	return len(f.awaited) > 0
}

// known returns the family of an object, or nil. That of an earlier object of the same name is another one. w.mu is held.
func (w *Writes) known(owner metav1.Object) *family {
	if f, ok := w.families[keyOf(owner)]; ok && f.owner == owner.GetUID() {
		return f
	}
	return nil
}

// familyOf returns the family of an object, a new one if none is known. w.mu is held.
func (w *Writes) familyOf(owner metav1.Object) *family {
	f := w.known(owner)
	if f == nil {
		f = &family{owner: owner.GetUID(), awaited: map[types.UID]write{}}
		w.families[keyOf(owner)] = f
	}
	return f
}

func keyOf(o metav1.Object) types.NamespacedName { return cache.MetaObjectToName(o).AsNamespacedName() }
