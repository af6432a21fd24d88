/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/informers"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// Names of the indexes that this reconciler adds to its informers.
const (
	// byAlias finds AddressableServices by the alias that they ask for.
	byAlias = "alias"

	// byTargetKind finds AddressableServices by the group and kind of their target.
	byTargetKind = "targetKind"

	// aliasesByOwner finds alias Services by the object that published them.
	aliasesByOwner = "aliasOwner"
)

func addressableServiceIndexers() cache.Indexers {
	return cache.Indexers{
		byAlias: informers.IndexBy(func(as *v1.AddressableService) []string {
			if as.Spec.Publish == nil {
				return nil
			}
			return []string{as.Spec.Publish.Alias}
		}),
		byTargetKind: informers.IndexBy(func(as *v1.AddressableService) []string {
			return []string{as.Spec.Ref.GroupKind().String()}
		}),
	}
}

func serviceIndexers() cache.Indexers {
	return cache.Indexers{
		aliasesByOwner: informers.IndexBy(func(service *corev1.Service) []string {
			if owner, ok := ownerOf(service); ok {
				return []string{owner.String()}
			}
			return nil
		}),
	}
}

// wakers turns the events of the informers into keys of the objects that they
// concern. Every handler accepts tombstones: a deletion that happened while the
// watch was down arrives as cache.DeletedFinalStateUnknown, which the filters of
// knative.dev/pkg drop.
type wakers struct {
	*Reconciler

	wakes   *telemetry.Wakes
	config  *config.Store
	objects cache.SharedIndexInformer
}

// addressableServices are woken by themselves, and, whatever their class, wake
// those that refer to them.
func (w *wakers) addressableServices() []cache.ResourceEventHandler {
	gvk := (*v1.AddressableService)(nil).GetGroupVersionKind()
	return []cache.ResourceEventHandler{
		w.wakes.On(gvk.Kind, func(e telemetry.Event) {
			if isOurs(e.Object) {
				e.Enqueue()
			}
		}),
		w.wakes.On(gvk.Kind, func(e telemetry.Event) { e.EnqueueObservers(gvk) }),
		// A process that does not lead reconciles nothing, which would also drop the references of a deleted object.
		cache.ResourceEventHandlerFuncs{DeleteFunc: w.tracker.OnDeletedObserver},
	}
}

// ducks wake those whose target they are.
func (w *wakers) ducks() cache.ResourceEventHandler {
	return w.wakes.On("Addressable", func(e telemetry.Event) { e.EnqueueObservers(schema.GroupVersionKind{}) })
}

// readable enqueues the objects whose target may be served by a resource that can be read now, or no longer.
func (w *wakers) readable(gvr schema.GroupVersionResource) {
	w.discovered(sets.New(gvr.GroupVersion()))
}

// discovered enqueues the objects whose target is at one of these versions.
func (w *wakers) discovered(versions sets.Set[schema.GroupVersion]) {
	w.wakes.EnqueueServed("Addressable", func(obj any) bool {
		as, ok := obj.(*v1.AddressableService)
		return ok && isOurs(obj) && versions.Has(as.Spec.Ref.GroupVersionKind().GroupVersion())
	}, w.objects)
}

// services wake those whose target they are, the owner of the alias that they
// are, and everyone who waits for that alias.
func (w *wakers) services() []cache.ResourceEventHandler {
	gvk := corev1.SchemeGroupVersion.WithKind("Service")
	return []cache.ResourceEventHandler{
		w.wakes.On(gvk.Kind, func(e telemetry.Event) { e.EnqueueObservers(gvk) }),
		w.wakes.On(gvk.Kind, w.aliasChanged),
	}
}

func (w *wakers) aliasChanged(e telemetry.Event) {
	service, ok := informers.ObjectOf[*corev1.Service](e.Object)
	if !ok {
		return
	}
	if owner, ok := ownerOf(service); ok {
		e.EnqueueKey(owner)
	}
	if service.Namespace == w.config.Load().DirectoryNamespace {
		w.enqueueIndexed(e, byAlias, service.Name)
	}
}

// namespaces: the directory coming, going or beginning to go wakes everyone who
// publishes.
func (w *wakers) namespaces() cache.ResourceEventHandler {
	return w.wakes.On("Namespace", func(e telemetry.Event) {
		namespace, ok := informers.ObjectOf[*corev1.Namespace](e.Object)
		if !ok || namespace.Name != w.config.Load().DirectoryNamespace {
			return
		}
		e.EnqueueAll(func(obj any) bool {
			as, ok := obj.(*v1.AddressableService)
			return ok && as.Spec.Publish != nil && isOurs(obj)
		}, w.objects)
	})
}

// crds: a kind that begins to be served wakes those that refer to it; one that
// is served no more ends its informer, which would ask for it for ever.
func (w *wakers) crds() cache.ResourceEventHandler {
	return w.wakes.On("CustomResourceDefinition", func(e telemetry.Event) {
		crd, ok := informers.ObjectOf[*apiextensionsv1.CustomResourceDefinition](e.Object)
		if !ok {
			return
		}
		w.addressables.Stop(w.kinds.Changed(crd, e.Cause.What == telemetry.Deleted))
		w.enqueueIndexed(e, byTargetKind, restmapping.GroupKindOf(crd).String())
	})
}

// enqueueIndexed enqueues the objects of our class that an index finds.
func (w *wakers) enqueueIndexed(e telemetry.Event, index, value string) {
	for _, as := range informers.Indexed[*v1.AddressableService](w.objects.GetIndexer(), index, value) {
		if isOurs(as) {
			e.EnqueueObject(as)
		}
	}
}

// isOurs says whether an object, or the last state of a deleted one, has our class.
func isOurs(obj any) bool {
	as, ok := informers.ObjectOf[*v1.AddressableService](obj)
	return ok && as.Annotations[samples.ClassAnnotationKey] == samples.ClassMallard
}
