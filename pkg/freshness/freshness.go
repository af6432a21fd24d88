/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package freshness

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// Patience is how long a cache may stay behind a write before it is believed
// after all. It is reached only if the event of the write never comes, as when
// etcd was restored from a backup and counts its versions anew.
const Patience = 30 * time.Second

// Writes remembers the version of each object's last own write. The zero value
// is not usable; see NewWrites. It may be used by several goroutines.
type Writes struct {
	clock clock.PassiveClock

	mu   sync.Mutex
	last map[types.NamespacedName]write
}

type write struct {
	uid             types.UID
	resourceVersion string
	// last is whether the write took the last finalizer of an object that is
	// being deleted. The API server answers such a write with the version from
	// before it, since what it does is no update but the deletion.
	last bool
	at   time.Time
}

// NewWrites returns a memory without any write.
func NewWrites() *Writes {
	return &Writes{clock: clock.RealClock{}, last: make(map[types.NamespacedName]write)}
}

// Record notes the state of an object that the API server answered a write with.
func (w *Writes) Record(written metav1.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[keyOf(written)] = write{
		uid:             written.GetUID(),
		resourceVersion: written.GetResourceVersion(),
		last:            written.GetDeletionTimestamp() != nil && len(written.GetFinalizers()) == 0,
		at:              w.clock.Now(),
	}
}

// Forget drops what is known of an object that does not exist any more.
func (w *Writes) Forget(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, key)
}

// Behind says whether an object, as a cache has it, is older than its last own
// write. Resource versions of one resource can be compared since Kubernetes 1.35
// promises it (KEP-5504); one that is no number is never behind.
func (w *Writes) Behind(cached metav1.Object) bool {
	key := keyOf(cached)
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[key]
	if !ok {
		return false
	}
	if last.uid == cached.GetUID() && w.clock.Since(last.at) < Patience && last.after(cached.GetResourceVersion()) {
		return true
	}
	delete(w.last, key)
	return false
}

func (l write) after(resourceVersion string) bool {
	order, err := resourceversion.CompareResourceVersion(resourceVersion, l.resourceVersion)
	return err == nil && (order < 0 || l.last && order == 0)
}

func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

// LeaderAware is what a generated reconciler is.
type LeaderAware interface {
	controller.Reconciler
	reconciler.LeaderAware
}

// Memory is what a guard asks: Writes, or Children.
type Memory interface {
	// Behind says whether a cache does not have yet what was written last of an object, or of its children.
	Behind(cached metav1.Object) bool
	// Forget is called when an object is found to exist no more.
	Forget(key types.NamespacedName)
}

// Guard wraps a generated reconciler so that it is not called for an object of which a memory says that
// a cache is behind; the pass is left to the event that is on its way. indexer is the cache
// that the reconciler reads its objects from.
func Guard(inner LeaderAware, indexer cache.KeyGetter, memories ...Memory) LeaderAware {
	return &guard{LeaderAware: inner, indexer: indexer, memories: memories}
}

type guard struct {
	LeaderAware

	indexer  cache.KeyGetter
	memories []Memory
}

// Reconcile implements controller.Reconciler.
func (g *guard) Reconcile(ctx context.Context, key string) error {
	obj, exists, err := g.indexer.GetByKey(key)
	if cached, ok := obj.(metav1.Object); ok && err == nil && exists {
		if slices.ContainsFunc(g.memories, func(m Memory) bool { return m.Behind(cached) }) {
			// In case the event never comes, there will be a pass all the same.
			return controller.NewRequeueAfter(Patience)
		}
	} else if namespace, name, err := cache.SplitMetaNamespaceKey(key); err == nil {
		for _, m := range g.memories {
			m.Forget(types.NamespacedName{Namespace: namespace, Name: name})
		}
	}
	return g.LeaderAware.Reconcile(ctx, key)
}
