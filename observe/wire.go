/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/kmeta"
)

// Watch connects a source with the queue of a reconciler. It is made by For, Owns, Tracks or Maps.
type Watch interface {
	wire(ctx context.Context, impl *controller.Impl) error
}

// Wire enqueues the keys of a reconciler when objects of sources change. The constructor of a controller calls it once. A deletion that was
// missed while a watch was interrupted enqueues, too, which it does not with the filters of knative.dev/pkg.
func Wire(ctx context.Context, impl *controller.Impl, watches ...Watch) error {
	var failures []error
	for _, w := range watches {
		failures = append(failures, w.wire(ctx, impl))
	}
	return errors.Join(failures...)
}

// For enqueues each object that changes.
func For[T Object](source Source[T]) Watch {
	return Maps(source, func(object T) []types.NamespacedName {
		return []types.NamespacedName{cache.MetaObjectToName(object).AsNamespacedName()}
	})
}

// Owns enqueues the owner of an object that changes, if its controller is of the owner's kind. If the owner changes, both are enqueued.
func Owns[T Object](source Source[T], owner kmeta.OwnerRefable) Watch {
	kind := owner.GetGroupVersionKind().GroupKind()
	return Maps(source, func(object T) []types.NamespacedName {
		ref := metav1.GetControllerOf(object)
		if ref == nil {
			return nil
		}
		if group, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || group.Group != kind.Group || ref.Kind != kind.Kind {
			return nil
		}
		return []types.NamespacedName{{Namespace: object.GetNamespace(), Name: ref.Name}}
	})
}

// Maps enqueues what f returns for an object that changes. Of an update it is called with both states, so that an object that is not referred to
// any more enqueues, too.
func Maps[T Object](source Source[T], f func(T) []types.NamespacedName) Watch {
	return watching[T]{source: source, changed: func(impl *controller.Impl, object T, isResync bool) {
		for _, key := range f(object) {
			if isResync {
				impl.EnqueueSlowKey(key)
			} else {
				impl.EnqueueKey(key)
			}
		}
	}}
}

// Tracks enqueues the objects that track one that changes by the tracker of the reconciler. kind is that of the source, since objects of
// informers do not carry it.
func Tracks[T Object](source Source[T], kind schema.GroupVersionKind) Watch {
	return watching[T]{source: source, changed: func(impl *controller.Impl, object T, _ bool) {
		var tracked runtime.Object = object
		if object.GetObjectKind().GroupVersionKind() != kind {
			tracked = object.DeepCopyObject()
			tracked.GetObjectKind().SetGroupVersionKind(kind)
		}
		impl.Tracker.OnChanged(tracked)
	}}
}

type watching[T Object] struct {
	source  Source[T]
	changed func(impl *controller.Impl, object T, isResync bool)
}

func (w watching[T]) wire(ctx context.Context, impl *controller.Impl) error {
	h, err := hubFrom(ctx)
	if err != nil {
		return fmt.Errorf("controller %q: %w", impl.Name, err)
	}
	d, err := define(impl.Name, w.source, func(_ context.Context, e Event[T]) error {
		if e.Type == Updated && !e.Resync {
			w.changed(impl, e.Old, false)
		}
		w.changed(impl, e.Object, e.Resync)
		return nil
	}, []Options[T]{{Inline: true, Resync: controller.GetResyncPeriod(ctx)}})
	if err != nil {
		return fmt.Errorf("controller %q: %w", impl.Name, err)
	}
	informer, _, err := informerOf(ctx, h, w.source, impl.Name)
	if err != nil {
		return fmt.Errorf("controller %q: %w", impl.Name, err)
	}
	registration, err := d.listen(informer, &inline[T]{observer: d.observer(ctx)})
	if err != nil {
		return fmt.Errorf("controller %q: %w", impl.Name, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.synced = append(h.synced, waiting{impl.Name, registration.HasSynced})
	return nil
}
