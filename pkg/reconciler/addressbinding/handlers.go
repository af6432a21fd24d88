/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"maps"
	"slices"
	"weak"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// handlers enqueue the bindings that an event affects, which they find in the cache of bindings. So nothing has to be tracked: a
// binding that the cache gets later is reconciled for its own event.
type handlers struct {
	triggers *triggers.Triggers
	bindings cache.SharedIndexInformer
	// choices are the results of binding.ChosenBy for bindings in the cache, which an event of any subject asks. To parse a selector
	// costs much more than to match it.
	choices *lru.Cache
}

// maxChoices bounds the memory for choices to a few MiB.
const maxChoices = 10_000

// enqueue enqueues the bindings of a namespace that an event affects.
func (h *handlers) enqueue(e triggers.Event, namespace string, affected func(*v1.AddressBinding) bool) {
	for _, ab := range triggers.Indexed[*v1.AddressBinding](h.bindings.GetIndexer(), cache.NamespaceIndex, namespace) {
		if affected(ab) {
			e.EnqueueObject(ab)
		}
	}
}

// addressBindings enqueues bindings for their own events, and those that may want the same variable.
func (h *handlers) addressBindings() cache.ResourceEventHandler {
	return h.triggers.Handler("AddressBinding", func(e triggers.Event) {
		e.Enqueue()
		now, ok := triggers.ObjectOf[*v1.AddressBinding](e.Object)
		old, updated := triggers.ObjectOf[*v1.AddressBinding](e.Old)
		if !ok || updated && claimsAlike(old, now) {
			return
		}
		h.enqueue(e, now.Namespace, func(ab *v1.AddressBinding) bool { return contend(ab, now) || updated && contend(ab, old) })
	})
}

// contend reports whether two bindings may want the same variable of the same object.
func contend(a, b *v1.AddressBinding) bool {
	return a.Name != b.Name && a.Spec.Variable == b.Spec.Variable && subjectKind(a).GroupKind() == subjectKind(b).GroupKind()
}

// claimsAlike reports whether two states of a binding are the same to other bindings.
func claimsAlike(a, b *v1.AddressBinding) bool {
	return a.UID == b.UID && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && a.Status.Value == b.Status.Value &&
		a.Status.LacksAddress() == b.Status.LacksAddress() &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.Kinds, b.Status.Kinds)
}

// addressableServices enqueues the bindings of an AddressableService.
func (h *handlers) addressableServices() cache.ResourceEventHandler {
	return h.triggers.Handler("AddressableService", func(e triggers.Event) {
		if as, ok := triggers.ObjectOf[*v1.AddressableService](e.Object); ok {
			h.enqueue(e, as.Namespace, func(ab *v1.AddressBinding) bool { return ab.Spec.Address.Name == as.Name })
		}
	})
}

// subjects enqueues the bindings that choose an object, or chose it before its labels changed.
func (h *handlers) subjects() cache.ResourceEventHandler {
	return h.triggers.Handler("Subject", func(e triggers.Event) {
		now, ok := triggers.ObjectOf[kmeta.Accessor](e.Object)
		old, updated := triggers.ObjectOf[kmeta.Accessor](e.Old)
		if !ok || updated && subjectsAlike(old, now) {
			return
		}
		h.enqueue(e, now.GetNamespace(), func(ab *v1.AddressBinding) bool { return h.concerns(ab, now) || updated && h.concerns(ab, old) })
	})
}

// concerns reports whether a binding chooses an object, or may have left variables in it because it is of a former kind.
func (h *handlers) concerns(ab *v1.AddressBinding, object kmeta.Accessor) bool {
	kind := object.GroupVersionKind().GroupKind()
	if kind == subjectKind(ab).GroupKind() {
		return h.chosenBy(ab)(object)
	}
	_, recorded := binding.Recorded(ab, kind)
	return recorded
}

// chosenBy is binding.ChosenBy for a binding in the cache, which replaces the object whenever it changes.
func (h *handlers) chosenBy(ab *v1.AddressBinding) func(metav1.Object) bool {
	key := weak.Make(ab)
	if known, ok := h.choices.Get(key); ok {
		return known.(func(metav1.Object) bool) //nolint:forcetypeassert // added below
	}
	chosen := binding.ChosenBy(&ab.Spec.Subject)
	h.choices.Add(key, chosen)
	return chosen
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
	h.triggers.EnqueueServed("Subject", withSubjectsIn(groups), h.bindings)
}

// readable is like served, for a resource that can be read now, or no longer.
func (h *handlers) readable(gvr schema.GroupVersionResource) { h.served(sets.New(gvr.GroupVersion())) }

// withSubjectsIn accepts the bindings that have, or had, subjects in one of these API groups.
func withSubjectsIn(groups sets.Set[string]) func(any) bool {
	return func(obj any) bool {
		ab, ok := obj.(*v1.AddressBinding)
		return ok && (groups.Has(subjectKind(ab).Group) || slices.ContainsFunc(ab.Status.Kinds, func(k v1.SubjectKind) bool {
			return groups.Has(binding.KindOf(k.APIVersion, k.Kind).Group)
		}))
	}
}

// namespaces enqueues all bindings in a namespace that opts in or out of bindings or webhooks.
func (h *handlers) namespaces() cache.ResourceEventHandler {
	return h.triggers.Handler("Namespace", func(e triggers.Event) {
		now, ok := triggers.ObjectOf[*corev1.Namespace](e.Object)
		old, updated := triggers.ObjectOf[*corev1.Namespace](e.Old)
		if ok && !(updated && namespacesAlike(old, now)) {
			h.enqueue(e, now.Name, func(*v1.AddressBinding) bool { return true })
		}
	})
}

func namespacesAlike(a, b *corev1.Namespace) bool {
	_, aExcluded := a.Labels[excludedFromWebhooks]
	_, bExcluded := b.Labels[excludedFromWebhooks]
	return a.UID == b.UID && a.Labels[duck.BindingIncludeLabel] == b.Labels[duck.BindingIncludeLabel] &&
		a.Labels[duck.BindingExcludeLabel] == b.Labels[duck.BindingExcludeLabel] && aExcluded == bExcluded
}

// stopper is implemented by shapes, and stops the informers of some resources.
type stopper interface {
	Stop(match func(schema.GroupVersionResource) bool)
}

// crds enqueues the bindings with subjects in the group of a CRD, and stops the informers of what it no longer serves.
func (h *handlers) crds(kinds *restmapping.Finder, subjects stopper) cache.ResourceEventHandler {
	return h.triggers.Handler("CustomResourceDefinition", func(e triggers.Event) {
		crd, ok := triggers.ObjectOf[*apiextensionsv1.CustomResourceDefinition](e.Object)
		if !ok {
			return
		}
		subjects.Stop(kinds.Changed(crd, e.Cause == triggers.Deleted))
		e.EnqueueAll(withSubjectsIn(sets.New(crd.Spec.Group)), h.bindings)
	})
}

// webhooks enqueues the bindings whose condition Intercepted is no longer true.
func (h *handlers) webhooks() cache.ResourceEventHandler {
	return h.triggers.Handler("MutatingWebhookConfiguration", func(e triggers.Event) {
		now, ok := triggers.ObjectOf[*admissionregistrationv1.MutatingWebhookConfiguration](e.Object)
		if !ok || now.Name != binding.WebhookName || e.Cause == triggers.Resynced {
			return
		}
		e.EnqueueAll(func(obj any) bool {
			ab, ok := obj.(*v1.AddressBinding)
			if !ok {
				return false
			}
			resource, recorded := subjectResource(ab)
			return recorded && (e.Cause != triggers.Deleted && intercepts(now, resource)) !=
				ab.Status.GetCondition(v1.AddressBindingConditionIntercepted).IsTrue()
		}, h.bindings)
	})
}
