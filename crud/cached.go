/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"
)

// read returns the object of a CreateOrUpdate from the cache of the caller if its state suffices for this attempt, and else from the API server.
// The state may be older than the present one. Then the API server rejects a patch that was made from it, and the next attempt gets the object.
func (c *call) read(ctx context.Context) (*unstructured.Unstructured, error) {
	if c.options.Cached == nil || c.options.DryRun || c.result.Attempts > 1 || c.hasPreconditions() || c.op.Type != TypeCreateOrUpdate {
		return c.get(ctx)
	}
	object := c.options.Cached(c.kind.gvr(), c.name())
	if isNil(object) {
		return c.get(ctx)
	}
	live, err := c.copyOf(object)
	switch {
	case err != nil:
		return nil, Malformed.errorf("crud.Options.Cached: %w", err)
	case !c.suffices(live):
		return c.get(ctx)
	}
	c.result.Object = live
	return live, nil
}

func (c *call) name() types.NamespacedName {
	return types.NamespacedName{Namespace: c.op.Namespace, Name: c.op.Name}
}

func nameOf(object *unstructured.Unstructured) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// copyOf returns a copy of an object from the cache.
func (c *call) copyOf(object Object) (*unstructured.Unstructured, error) {
	gvk, err := c.gvkOf(object)
	if err != nil {
		return nil, err
	}
	content, err := fields(object)
	if err != nil {
		return nil, err
	}
	live := &unstructured.Unstructured{Object: content}
	live.SetGroupVersionKind(gvk)
	if gvk != c.kind.GroupVersionKind || nameOf(live) != c.name() {
		return nil, fmt.Errorf("it returned %s %s: it must return %s %s or nil", gvk, nameOf(live), c.kind.GroupVersionKind, c.name())
	}
	if live.GetResourceVersion() == "" {
		return nil, fmt.Errorf("%s %s has no resourceVersion: it must be an object as the API server returned it", gvk, c.name())
	}
	return live, nil
}

// suffices reports whether a cached state is as new as any that the client knows, and neither rejects the operation nor leads to a write that the
// API server would execute on another state.
func (c *call) suffices(live *unstructured.Unstructured) bool {
	if !c.known.isCurrent(c.kind.gvr(), live) || live.GetDeletionTimestamp() != nil || c.checkOwner(live) != nil {
		return false
	}
	if c.op.Strategy == Apply { // it needs managedFields to take over fields, and a cache may lack them
		_, isSettled := c.settled.Get(c.settledKey(live))
		return isSettled
	}
	return c.fights.recent(c.settledKey(live), false) < fightWrites // the warning needs managedFields
}

// received sets the state of the object that the API server returned.
func (c *call) received(object *unstructured.Unstructured) {
	if c.result.Object = object; c.options.Cached != nil && !c.options.DryRun {
		c.known.add(c.kind.gvr(), nameOf(object), knownState{version: object.GetResourceVersion()})
	}
}

// deleted sets the UID of the object whose deletion the API server has accepted, or may have.
func (c *call) deleted(uid types.UID) {
	if c.result.Deleted = uid; c.options.Cached != nil && !c.options.DryRun {
		c.known.add(c.kind.gvr(), c.name(), knownState{deleted: uid})
	}
}

// knownState is the newest state of an object that a client has received or made.
type knownState struct {
	version string    // its resourceVersion
	deleted types.UID // of the object of that name that the client deleted
}

// known are the newest states of objects, so that a client does not use older ones of a cache after its own writes.
type known struct {
	mu     sync.Mutex
	states *lru.Cache // of knownState, by knownKey
}

type knownKey struct {
	schema.GroupResource
	types.NamespacedName
}

func (k *known) get(key knownKey) knownState {
	found, _ := k.states.Get(key)
	state, _ := found.(knownState) // empty for an object that was not received
	return state
}

func (k *known) add(resource schema.GroupVersionResource, name types.NamespacedName, next knownState) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key := knownKey{resource.GroupResource(), name}
	before := k.get(key)
	if isOlder(next.version, before.version) {
		next.version = before.version
	}
	if next.deleted == "" {
		next.deleted = before.deleted
	}
	k.states.Add(key, next)
}

// isCurrent reports whether there is no newer state than that of the object.
func (k *known) isCurrent(resource schema.GroupVersionResource, object *unstructured.Unstructured) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	state := k.get(knownKey{resource.GroupResource(), nameOf(object)})
	return object.GetUID() != state.deleted && !isOlder(object.GetResourceVersion(), state.version)
}

// isOlder reports whether a resourceVersion is older than another, or cannot be compared with it.
func isOlder(version, than string) bool {
	if than == "" || version == than {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err != nil || order < 0
}
