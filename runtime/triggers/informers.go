/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package triggers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Setup adds indexers, a transform and handlers to an informer; nil stands for none of them. A controller calls it when
// it is made: once the informer runs, no transform can be set. The controllers of a process share its informers, so two
// that add an index of the same name get an error, and of two transforms the later one alone counts.
func Setup(informer cache.SharedIndexInformer, indexers cache.Indexers, transform cache.TransformFunc, handlers ...cache.ResourceEventHandler) error {
	if indexers != nil {
		if err := informer.AddIndexers(indexers); err != nil {
			return fmt.Errorf("adding indexers: %w", err)
		}
	}
	if transform != nil {
		if err := informer.SetTransform(transform); err != nil {
			return fmt.Errorf("setting the transform: %w", err)
		}
	}
	for _, h := range handlers {
		if _, err := informer.AddEventHandler(h); err != nil {
			return fmt.Errorf("adding an event handler: %w", err)
		}
	}
	return nil
}

// DropManagedFields is a cache.TransformFunc. Managed fields are often the larger part of an object and are read by
// nobody here. What is no object, such as a tombstone, stays as it is.
func DropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// EnqueueConfigured enqueues, once the queue is short, each object of an informer that the filter accepts, because a ConfigMap has
// changed.
func (t *Triggers) EnqueueConfigured(configMap string, filter func(any) bool, informer cache.SharedInformer) {
	t.enqueueAll(trigger{cause: Configured, source: configMap}, filter, informer)
}

// EnqueueServed enqueues, once the queue is short, each object of an informer that the filter accepts, because the kinds that they
// refer to can be read now, or no longer.
func (t *Triggers) EnqueueServed(source string, filter func(any) bool, informer cache.SharedInformer) {
	t.enqueueAll(trigger{cause: Served, source: source}, filter, informer)
}

func (t *Triggers) enqueueAll(why trigger, filter func(any) bool, informer cache.SharedInformer) {
	for _, obj := range informer.GetStore().List() {
		if key, ok := keyOf(obj); ok && filter(obj) {
			t.enqueueLater(key, why)
		}
	}
}

// EnqueueAll enqueues, once the queue is short, each object of an informer that the filter accepts.
func (e Event) EnqueueAll(filter func(any) bool, informer cache.SharedInformer) {
	e.triggers.enqueueAll(e.trigger(), filter, informer)
}
