/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// follower keeps the objects of the samples' kinds as they are in the cluster, in every namespace, so that what a
// developer adds from another terminal shows up too.
type follower struct {
	// changed gets a value after a change; one value may stand for several.
	changed chan struct{}

	mu      sync.Mutex
	objects map[id]*unstructured.Unstructured
	cancel  context.CancelFunc
	factory dynamicinformer.DynamicSharedInformerFactory
}

// id names an object of the table.
type id struct {
	kind            schema.GroupKind
	namespace, name string
}

func idOf(object *unstructured.Unstructured) id {
	return id{object.GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetName()}
}

// follow returns once the objects that exist are known.
func follow(ctx context.Context, client dynamic.Interface, resources map[schema.GroupKind]schema.GroupVersionResource) (*follower, error) {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{
		changed: make(chan struct{}, 1),
		objects: map[id]*unstructured.Unstructured{},
		cancel:  cancel,
		factory: dynamicinformer.NewDynamicSharedInformerFactory(client, 0),
	}
	for _, resource := range resources {
		_, err := f.factory.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { f.set(object) },
			UpdateFunc: func(_, object any) { f.set(object) },
			DeleteFunc: f.remove,
		})
		if err != nil {
			cancel()
			return nil, fmt.Errorf("following %s: %w", resource.Resource, err)
		}
	}
	f.factory.Start(ctx.Done())
	for resource, synced := range f.factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			f.stop()
			return nil, fmt.Errorf("following %s: %w", resource.Resource, context.Cause(ctx))
		}
	}
	return f, nil
}

// stop returns when the watches have ended.
func (f *follower) stop() {
	f.cancel()
	f.factory.Shutdown()
}

func (f *follower) set(object any) {
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[idOf(o)] = o
	f.notify()
}

func (f *follower) remove(object any) {
	if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = deleted.Obj
	}
	o, ok := object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.objects, idOf(o))
	f.notify()
}

func (f *follower) notify() {
	select {
	case f.changed <- struct{}{}:
	default:
	}
}

// rows are the rows of all objects, by namespace and name.
func (f *follower) rows() []row {
	f.mu.Lock()
	defer f.mu.Unlock()
	var rows []row
	for key, object := range f.objects {
		rows = append(rows, newRow(strings.ToLower(key.kind.Kind), object))
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return rows
}

// unready returns those of the wanted objects that are not Ready or do not exist, as they are now.
func (f *follower) unready(wanted []*unstructured.Unstructured) []*unstructured.Unstructured {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []*unstructured.Unstructured
	for _, object := range wanted {
		current, ok := f.objects[idOf(object)]
		switch {
		case !ok:
			found = append(found, object)
		case !isReady(current):
			found = append(found, current)
		}
	}
	return found
}
