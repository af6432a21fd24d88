/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package freshness

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"

	"knative.dev/pkg/kmeta"
)

// Children remembers what a reconciler last wrote of the objects that its own objects, their owners, control. It is for a
// reconciler that decides by what it counts in a cache. It may be used by several goroutines. Use NewChildren.
type Children struct {
	clock  clock.PassiveClock
	cached func(owner metav1.Object) []metav1.Object

	mu       sync.Mutex
	families map[types.NamespacedName]*family
	// owners finds the family of a child that is awaited.
	owners map[types.UID]types.NamespacedName
}

// family is what is known of one owner.
type family struct {
	owner    types.UID
	awaited  map[types.UID]awaited
	doubtful bool
	read     bool
}

// awaited is a write that the cache may not have yet.
type awaited struct {
	// resourceVersion is that which the write made.
	resourceVersion string
	// deletion says that the child is being deleted or gone, be it of which version it may.
	deletion bool
	at       time.Time
}

// NewChildren returns a memory without any write. cached returns the children of an owner, those that Read is called with, as the
// cache of the reconciler has them.
func NewChildren(cached func(owner metav1.Object) []metav1.Object) *Children {
	return &Children{
		clock: clock.RealClock{}, cached: cached,
		families: map[types.NamespacedName]*family{}, owners: map[types.UID]types.NamespacedName{},
	}
}

// Written notes a child as the API server answered a write of it, or a read, so that no pass takes an earlier state for the present one.
func (c *Children) Written(owner, child metav1.Object) {
	// One that is being deleted may have left the cache already, and would be awaited in vain.
	c.await(owner, child.GetUID(), awaited{resourceVersion: child.GetResourceVersion(), deletion: child.GetDeletionTimestamp() != nil})
}

// Deleted notes that the API server has accepted the deletion of a child, or said that it is gone.
func (c *Children) Deleted(owner metav1.Object, child types.UID) {
	c.await(owner, child, awaited{deletion: true})
}

func (c *Children) await(owner metav1.Object, child types.UID, a awaited) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a.at = c.clock.Now()
	c.familyOf(owner).awaited[child] = a
	c.owners[child] = keyOf(owner)
}

// Doubt notes that nobody knows whether a write was made, because its answer was lost. Until the children are
// read from the API server, which Read says, Doubtful is true.
func (c *Children) Doubt(owner metav1.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.familyOf(owner).doubtful = true
}

// Doubtful says whether the cache cannot be relied on: after Doubt, or when a write did not show up within Patience.
func (c *Children) Doubtful(owner metav1.Object) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.known(owner)
	return ok && f.doubtful
}

// Read notes the children that the API server listed a moment ago, all that there are: the cache is behind until it
// has the same, and lacks what is not among them.
func (c *Children) Read(owner metav1.Object, live []metav1.Object) {
	listed := make(map[types.UID]bool, len(live))
	for _, child := range live {
		listed[child.GetUID()] = true
		c.Written(owner, child)
	}
	for _, child := range c.cached(owner) {
		if !listed[child.GetUID()] {
			c.Deleted(owner, child.GetUID())
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.familyOf(owner)
	f.doubtful, f.read = false, true
}

// WasRead says whether the children were read from the API server since this process began to write. Until then the cache may lack
// what another process wrote before it.
func (c *Children) WasRead(owner metav1.Object) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.known(owner)
	return ok && f.read
}

// Promoted is called when the process begins to write: another one did so before.
func (c *Children) Promoted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.families)
	clear(c.owners)
}

// Removed is called with a child, or a tombstone of it, that has left the cache: what was written to it will never be seen there.
func (c *Children) Removed(obj any) {
	child, err := kmeta.DeletionHandlingAccessor(obj)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.families[c.owners[child.GetUID()]]; ok {
		c.forgetChild(f, child.GetUID())
	}
}

// Forget implements Memory.
func (c *Children) Forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forget(key)
}

// Behind implements Memory. It is called with an owner.
func (c *Children) Behind(owner metav1.Object) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f, ok := c.known(owner)
	if !ok || len(f.awaited) == 0 {
		return false
	}
	cached := map[types.UID]metav1.Object{}
	for _, child := range c.cached(owner) {
		cached[child.GetUID()] = child
	}
	behind := false
	for uid, a := range f.awaited {
		switch {
		case a.arrived(cached[uid]):
			c.forgetChild(f, uid)
		case c.clock.Since(a.at) >= Patience:
			c.forgetChild(f, uid)
			f.doubtful = true
		default:
			behind = true
		}
	}
	return behind
}

// arrived says whether a cache has the write, or a later one, when this is what it has of the child.
func (a awaited) arrived(cached metav1.Object) bool {
	if a.deletion {
		return cached == nil || cached.GetDeletionTimestamp() != nil
	}
	if cached == nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(cached.GetResourceVersion(), a.resourceVersion)
	// What cannot be compared must not stop anything.
	return err != nil || order >= 0
}

// known returns what is known of an owner; what is of an earlier one of the same name is not. The lock is held.
func (c *Children) known(owner metav1.Object) (*family, bool) {
	f, ok := c.families[keyOf(owner)]
	return f, ok && f.owner == owner.GetUID()
}

// familyOf is known, and makes a family where there is none.
func (c *Children) familyOf(owner metav1.Object) *family {
	if f, ok := c.known(owner); ok {
		return f
	}
	key := keyOf(owner)
	c.forget(key)
	f := &family{owner: owner.GetUID(), awaited: map[types.UID]awaited{}}
	c.families[key] = f
	return f
}

func (c *Children) forget(key types.NamespacedName) {
	if f, ok := c.families[key]; ok {
		for uid := range f.awaited {
			delete(c.owners, uid)
		}
		delete(c.families, key)
	}
}

func (c *Children) forgetChild(f *family, uid types.UID) {
	delete(f.awaited, uid)
	delete(c.owners, uid)
}
