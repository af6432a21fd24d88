/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// Names of the indexes that this reconciler adds to its informers.
const (
	// byAlias finds AddressableServices by the alias that they ask for.
	byAlias = "alias"

	// byTarget tracks targets of any kind: it finds the AddressableServices that refer to an object. Unlike the tracker of knative.dev/pkg it
	// forgets a reference that has changed. Nothing is lost before an object is in the index, because it is then reconciled for its own event.
	byTarget = "target"

	// byTargetKind finds AddressableServices by the group and kind of their target.
	byTargetKind = "targetKind"

	// aliasesByOwner finds alias Services by the object that published them.
	aliasesByOwner = "aliasOwner"
)

func addressableServiceIndexers() cache.Indexers {
	return cache.Indexers{
		byAlias: triggers.IndexBy(func(as *v1.AddressableService) []string {
			if as.Spec.Publish == nil {
				return nil
			}
			return []string{as.Spec.Publish.Alias}
		}),
		byTarget: triggers.IndexBy(func(as *v1.AddressableService) []string {
			ref := as.Spec.Ref
			// Only the cluster knows whether a kind is namespaced.
			return []string{indexOf(ref.GroupKind(), ref.NamespaceOr(as.Namespace), ref.Name), indexOf(ref.GroupKind(), "", ref.Name)}
		}),
		byTargetKind: triggers.IndexBy(func(as *v1.AddressableService) []string {
			return []string{as.Spec.Ref.GroupKind().String()}
		}),
	}
}

func indexOf(kind schema.GroupKind, namespace, name string) string {
	return kind.String() + "/" + namespace + "/" + name
}

func serviceIndexers() cache.Indexers {
	return cache.Indexers{
		aliasesByOwner: triggers.IndexBy(func(service *corev1.Service) []string {
			if owner, ok := ownerOf(service); ok {
				return []string{owner.String()}
			}
			return nil
		}),
	}
}

// handlers turn the events of the informers into keys of the objects that they concern. Every handler accepts tombstones: a deletion
// that happened while the watch was down arrives as cache.DeletedFinalStateUnknown, which the filters of knative.dev/pkg drop.
type handlers struct {
	triggers *triggers.Triggers
	config   *config.Store
	objects  cache.SharedIndexInformer
}

// addressableServices enqueues the object of an event, and, whatever its class, those that refer to it.
func (h *handlers) addressableServices() cache.ResourceEventHandler {
	gvk := (*v1.AddressableService)(nil).GetGroupVersionKind()
	return h.triggers.Handler(gvk.Kind, func(e triggers.Event) {
		if isOurs(e.Object) {
			e.Enqueue()
		}
		h.enqueueReferrers(e, gvk.GroupKind())
	})
}

// addressables enqueues the objects whose target an object of a kind is that is known only at run time.
func (h *handlers) addressables() cache.ResourceEventHandler {
	return h.triggers.Handler("Addressable", func(e triggers.Event) {
		if target, ok := triggers.ObjectOf[kmeta.Accessor](e.Object); ok {
			h.enqueueReferrers(e, target.GroupVersionKind().GroupKind())
		}
	})
}

// enqueueReferrers enqueues the objects whose target the object of an event is.
func (h *handlers) enqueueReferrers(e triggers.Event, kind schema.GroupKind) {
	if target, ok := triggers.ObjectOf[metav1.Object](e.Object); ok {
		h.enqueueIndexed(e, byTarget, indexOf(kind, target.GetNamespace(), target.GetName()))
	}
}

// readable enqueues the objects whose target may be served by a resource that can be read now, or no longer.
func (h *handlers) readable(gvr schema.GroupVersionResource) {
	h.discovered(sets.New(gvr.GroupVersion()))
}

// discovered enqueues the objects whose target is at one of these versions.
func (h *handlers) discovered(versions sets.Set[schema.GroupVersion]) {
	h.triggers.EnqueueServed("Addressable", func(obj any) bool {
		as, ok := obj.(*v1.AddressableService)
		return ok && isOurs(obj) && versions.Has(as.Spec.Ref.GroupVersionKind().GroupVersion())
	}, h.objects)
}

// services enqueues the objects whose target a Service is, the owner of the alias that it is, and those that wait for that alias.
func (h *handlers) services() cache.ResourceEventHandler {
	return h.triggers.Handler(serviceKind.Kind, func(e triggers.Event) {
		service, ok := triggers.ObjectOf[*corev1.Service](e.Object)
		if !ok {
			return
		}
		h.enqueueReferrers(e, serviceKind.GroupKind())
		if owner, ok := ownerOf(service); ok {
			e.EnqueueKey(owner)
		}
		if service.Namespace == h.config.Load().DirectoryNamespace {
			h.enqueueIndexed(e, byAlias, service.Name)
		}
	})
}

// namespaces enqueues every object that publishes when the directory namespace is created, deleted or terminating.
func (h *handlers) namespaces() cache.ResourceEventHandler {
	return h.triggers.Handler("Namespace", func(e triggers.Event) {
		namespace, ok := triggers.ObjectOf[*corev1.Namespace](e.Object)
		if !ok || namespace.Name != h.config.Load().DirectoryNamespace {
			return
		}
		e.EnqueueAll(func(obj any) bool {
			as, ok := obj.(*v1.AddressableService)
			return ok && as.Spec.Publish != nil && isOurs(obj)
		}, h.objects)
	})
}

// crds enqueues the objects that refer to the kind of a CRD, and stops the informers of what it no longer serves.
func (h *handlers) crds(kinds *restmapping.Finder, addressables *ducks.Factory) cache.ResourceEventHandler {
	return h.triggers.Handler("CustomResourceDefinition", func(e triggers.Event) {
		crd, ok := triggers.ObjectOf[*apiextensionsv1.CustomResourceDefinition](e.Object)
		if !ok {
			return
		}
		addressables.Stop(kinds.Changed(crd, e.Cause == triggers.Deleted))
		h.enqueueIndexed(e, byTargetKind, restmapping.GroupKindOf(crd).String())
	})
}

// enqueueIndexed enqueues the objects of our class that an index finds.
func (h *handlers) enqueueIndexed(e triggers.Event, index, value string) {
	for _, as := range triggers.Indexed[*v1.AddressableService](h.objects.GetIndexer(), index, value) {
		if isOurs(as) {
			e.EnqueueObject(as)
		}
	}
}

// isOurs reports whether an object, or the last state of a deleted one, has our class.
func isOurs(obj any) bool {
	as, ok := triggers.ObjectOf[*v1.AddressableService](obj)
	return ok && as.Annotations[samples.ClassAnnotationKey] == samples.ClassMallard
}
