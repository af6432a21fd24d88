/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"maps"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/informers"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/telemetry"
)

// Names of the indexes that this reconciler adds to its informers.
const (
	// bySubjectGroup finds bindings by the API groups of their subjects, former ones included.
	bySubjectGroup = "subjectGroup"

	// byVariable finds bindings that may want the same variable of the same object: by namespace, kind and variable.
	byVariable = "variable"
)

func bindingIndexers() cache.Indexers {
	return cache.Indexers{
		bySubjectGroup: informers.IndexBy(func(ab *v1.AddressBinding) []string { return sets.List(subjectGroups(ab)) }),
		byVariable:     informers.IndexBy(func(ab *v1.AddressBinding) []string { return []string{variableKey(ab)} }),
	}
}

func subjectGroups(ab *v1.AddressBinding) sets.Set[string] {
	groups := sets.New(subjectKind(ab).Group)
	for _, k := range ab.Status.Kinds {
		groups.Insert(binding.KindOf(k.APIVersion, k.Kind).Group)
	}
	return groups
}

func variableKey(ab *v1.AddressBinding) string {
	return ab.Namespace + "/" + subjectKind(ab).GroupKind().String() + "/" + ab.Spec.Variable
}

// handlers enqueue the bindings that an event affects. Every handler accepts tombstones: a deletion that happened while the watch was
// down arrives as cache.DeletedFinalStateUnknown, which the filters of knative.dev/pkg drop.
type handlers struct {
	wakes    *telemetry.Wakes
	tracker  tracker.Interface
	bindings cache.SharedIndexInformer
	kinds    *kinds.Finder
	// stop ends the informers of resources that are no longer served.
	stop func(func(schema.GroupVersionResource) bool)
}

// addressBindings enqueues bindings for their own events, and those that may want the same variable.
func (h *handlers) addressBindings() []cache.ResourceEventHandler {
	gvk := (*v1.AddressBinding)(nil).GetGroupVersionKind()
	return []cache.ResourceEventHandler{
		h.wakes.On(gvk.Kind, telemetry.Event.Enqueue),
		h.wakes.On(gvk.Kind, h.contended),
		cache.ResourceEventHandlerFuncs{DeleteFunc: h.tracker.OnDeletedObserver},
	}
}

func (h *handlers) contended(e telemetry.Event) {
	now, ok := informers.ObjectOf[*v1.AddressBinding](e.Object)
	if !ok {
		return
	}
	keys := sets.New(variableKey(now))
	if old, ok := informers.ObjectOf[*v1.AddressBinding](e.Old); ok {
		if claimsAlike(old, now) {
			return
		}
		keys.Insert(variableKey(old))
	}
	for key := range keys {
		for _, other := range h.indexed(byVariable, key) {
			if other.Name != now.Name {
				e.EnqueueObject(other)
			}
		}
	}
}

// claimsAlike reports whether two states of a binding are the same to other bindings.
func claimsAlike(a, b *v1.AddressBinding) bool {
	return a.UID == b.UID && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && a.Status.Value == b.Status.Value &&
		a.Status.LacksAddress() == b.Status.LacksAddress() &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.Kinds, b.Status.Kinds)
}

// addressableServices enqueues the bindings of an AddressableService.
func (h *handlers) addressableServices() cache.ResourceEventHandler {
	gvk := (*v1.AddressableService)(nil).GetGroupVersionKind()
	return h.wakes.On(gvk.Kind, func(e telemetry.Event) { e.EnqueueObservers(gvk) })
}

// subjects enqueues the bindings that choose an object, or chose it before its labels changed.
func (h *handlers) subjects() cache.ResourceEventHandler {
	return h.wakes.On("Subject", func(e telemetry.Event) {
		if old, ok := informers.ObjectOf[kmeta.Accessor](e.Old); ok {
			if now, ok := informers.ObjectOf[kmeta.Accessor](e.Object); ok && subjectsAlike(old, now) {
				return
			}
		}
		e.EnqueueObservers(schema.GroupVersionKind{})
		e.EnqueueFormerObservers(schema.GroupVersionKind{})
	})
}

// subjectsAlike reports whether two states of an object are the same to bindings. Most updates are of a status.
func subjectsAlike(a, b metav1.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetGeneration() != 0 && a.GetGeneration() == b.GetGeneration() &&
		(a.GetDeletionTimestamp() == nil) == (b.GetDeletionTimestamp() == nil) && maps.Equal(a.GetLabels(), b.GetLabels()) &&
		a.GetAnnotations()[samples.BoundVariablesAnnotationKey] == b.GetAnnotations()[samples.BoundVariablesAnnotationKey] &&
		binding.Controlled(a) == binding.Controlled(b) && binding.Finished(a) == binding.Finished(b)
}

// served enqueues the bindings that have, or had, subjects in the group of one of these versions: discovery has found another answer.
func (h *handlers) served(versions sets.Set[schema.GroupVersion]) {
	groups := sets.New[string]()
	for version := range versions {
		groups.Insert(version.Group)
	}
	h.wakes.EnqueueServed("Subject", func(obj any) bool {
		ab, ok := obj.(*v1.AddressBinding)
		return ok && subjectGroups(ab).HasAny(groups.UnsortedList()...)
	}, h.bindings)
}

// readable is like served, for a resource that can be read now, or no longer.
func (h *handlers) readable(gvr schema.GroupVersionResource) { h.served(sets.New(gvr.GroupVersion())) }

// namespaces enqueues all bindings in a namespace that opts in or out of bindings or webhooks.
func (h *handlers) namespaces() cache.ResourceEventHandler {
	return h.wakes.On("Namespace", func(e telemetry.Event) {
		now, ok := informers.ObjectOf[*corev1.Namespace](e.Object)
		if !ok {
			return
		}
		if old, ok := informers.ObjectOf[*corev1.Namespace](e.Old); ok && namespacesAlike(old, now) {
			return
		}
		for _, obj := range h.indexed(cache.NamespaceIndex, now.Name) {
			e.EnqueueObject(obj)
		}
	})
}

func namespacesAlike(a, b *corev1.Namespace) bool {
	_, aExcluded := a.Labels[excludedFromWebhooks]
	_, bExcluded := b.Labels[excludedFromWebhooks]
	return a.UID == b.UID && a.Labels[duck.BindingIncludeLabel] == b.Labels[duck.BindingIncludeLabel] &&
		a.Labels[duck.BindingExcludeLabel] == b.Labels[duck.BindingExcludeLabel] && aExcluded == bExcluded
}

// crds enqueues the bindings with subjects in the group of a CRD, and ends the informers of what it no longer serves.
func (h *handlers) crds() cache.ResourceEventHandler {
	return h.wakes.On("CustomResourceDefinition", func(e telemetry.Event) {
		crd, ok := informers.ObjectOf[*apiextensionsv1.CustomResourceDefinition](e.Object)
		if !ok {
			return
		}
		h.stop(h.kinds.Changed(crd, e.Cause.What == telemetry.Deleted))
		for _, obj := range h.indexed(bySubjectGroup, crd.Spec.Group) {
			e.EnqueueObject(obj)
		}
	})
}

// webhooks enqueues the bindings whose condition Intercepted is no longer true.
func (h *handlers) webhooks() cache.ResourceEventHandler {
	return h.wakes.On("MutatingWebhookConfiguration", func(e telemetry.Event) {
		now, ok := informers.ObjectOf[*admissionregistrationv1.MutatingWebhookConfiguration](e.Object)
		if !ok || now.Name != binding.WebhookName || e.Cause.What == telemetry.Resynced {
			return
		}
		e.EnqueueAll(func(obj any) bool {
			ab, ok := obj.(*v1.AddressBinding)
			if !ok {
				return false
			}
			resource, recorded := subjectResource(ab)
			return recorded && (e.Cause.What != telemetry.Deleted && intercepts(now, resource)) !=
				ab.Status.GetCondition(v1.AddressBindingConditionIntercepted).IsTrue()
		}, h.bindings)
	})
}

// indexed returns the bindings that an index finds.
func (h *handlers) indexed(index, value string) []*v1.AddressBinding {
	return informers.Indexed[*v1.AddressBinding](h.bindings.GetIndexer(), index, value)
}
