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

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/telemetry"
)

// wakers turns the events of the informers into keys of the bindings that they
// concern. Every handler accepts tombstones: a deletion that happened while the
// watch was down arrives as cache.DeletedFinalStateUnknown, which the filters of
// knative.dev/pkg drop.
type wakers struct {
	wakes    *telemetry.Wakes
	tracker  tracker.Interface
	bindings cache.SharedIndexInformer
	kinds    *kinds.Finder
	// stop ends the informers of resources that are served no more.
	stop func(func(schema.GroupVersionResource) bool)
}

// addressBindings are woken by themselves, and wake those who may contend for their variable.
func (w *wakers) addressBindings() []cache.ResourceEventHandler {
	gvk := (*v1.AddressBinding)(nil).GetGroupVersionKind()
	return []cache.ResourceEventHandler{
		w.wakes.On(gvk.Kind, telemetry.Event.Enqueue),
		w.wakes.On(gvk.Kind, w.contended),
		// A process that does not lead reconciles nothing, which would also drop the references of a deleted object.
		cache.ResourceEventHandlerFuncs{DeleteFunc: w.tracker.OnDeletedObserver},
	}
}

func (w *wakers) contended(e telemetry.Event) {
	now, ok := accessor[*v1.AddressBinding](e.Object)
	if !ok {
		return
	}
	keys := map[string]bool{variableKey(now): true}
	if old, ok := accessor[*v1.AddressBinding](e.Old); ok {
		if claimsAlike(old, now) {
			return
		}
		keys[variableKey(old)] = true
	}
	for key := range keys {
		for _, obj := range w.indexed(byVariable, key) {
			if other, ok := obj.(*v1.AddressBinding); ok && other.Name != now.Name {
				e.EnqueueObject(other)
			}
		}
	}
}

// claimsAlike is whether two states of a binding are the same to others. Conditions are nobody else's business.
func claimsAlike(a, b *v1.AddressBinding) bool {
	return a.UID == b.UID && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && a.Status.Value == b.Status.Value &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.Bound, b.Status.Bound)
}

// addressableServices wake those whose address they are.
func (w *wakers) addressableServices() cache.ResourceEventHandler {
	gvk := (*v1.AddressableService)(nil).GetGroupVersionKind()
	return w.wakes.On(gvk.Kind, func(e telemetry.Event) { e.EnqueueObservers(gvk) })
}

// subjects wake those whose subjects they are, or were before their labels changed. A new status is of no concern.
func (w *wakers) subjects() cache.ResourceEventHandler {
	return w.wakes.On("Subject", func(e telemetry.Event) {
		if old, ok := accessor[kmeta.Accessor](e.Old); ok {
			if now, ok := accessor[kmeta.Accessor](e.Object); ok && subjectsAlike(old, now) {
				return
			}
		}
		e.EnqueueObservers(schema.GroupVersionKind{})
		e.EnqueueFormerObservers(schema.GroupVersionKind{})
	})
}

func subjectsAlike(a, b metav1.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetGeneration() != 0 && a.GetGeneration() == b.GetGeneration() &&
		(a.GetDeletionTimestamp() == nil) == (b.GetDeletionTimestamp() == nil) && maps.Equal(a.GetLabels(), b.GetLabels())
}

// readable enqueues the bindings whose subjects may be served by a resource that can be read now, or no longer.
func (w *wakers) readable(gvr schema.GroupVersionResource) {
	w.discovered(sets.New(gvr.GroupVersion()))
}

// discovered enqueues the bindings that have, or had, subjects in the group of one of these versions.
func (w *wakers) discovered(versions sets.Set[schema.GroupVersion]) {
	groups := sets.New[string]()
	for gv := range versions {
		groups.Insert(gv.Group)
	}
	w.wakes.EnqueueServed("Subject", func(obj any) bool {
		ab, ok := obj.(*v1.AddressBinding)
		if !ok {
			return false
		}
		for kind := range subjectKinds(ab) {
			if groups.Has(schema.ParseGroupKind(kind).Group) {
				return true
			}
		}
		return false
	}, w.bindings)
}

// namespaces: one that opts in or out, of bindings or of webhooks, or begins to go, wakes all bindings in it.
func (w *wakers) namespaces() cache.ResourceEventHandler {
	return w.wakes.On("Namespace", func(e telemetry.Event) {
		now, ok := accessor[*corev1.Namespace](e.Object)
		if !ok {
			return
		}
		if old, ok := accessor[*corev1.Namespace](e.Old); ok && namespacesAlike(old, now) {
			return
		}
		for _, obj := range w.indexed(cache.NamespaceIndex, now.Name) {
			e.EnqueueObject(obj)
		}
	})
}

func namespacesAlike(a, b *corev1.Namespace) bool {
	_, aExcluded := a.Labels[excludedFromWebhooks]
	_, bExcluded := b.Labels[excludedFromWebhooks]
	return a.UID == b.UID && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		a.Labels[duck.BindingIncludeLabel] == b.Labels[duck.BindingIncludeLabel] &&
		a.Labels[duck.BindingExcludeLabel] == b.Labels[duck.BindingExcludeLabel] && aExcluded == bExcluded
}

// crds: a kind that begins to be served wakes those that refer to it; one that
// is served no more ends its informer, which would ask for it for ever.
func (w *wakers) crds() cache.ResourceEventHandler {
	return w.wakes.On("CustomResourceDefinition", func(e telemetry.Event) {
		crd, ok := accessor[*apiextensionsv1.CustomResourceDefinition](e.Object)
		if !ok {
			return
		}
		w.stop(w.kinds.Changed(crd, e.Cause.What == telemetry.Deleted))
		for _, obj := range w.indexed(bySubjectKind, kinds.GroupKindOf(crd).String()) {
			e.EnqueueObject(obj)
		}
	})
}

// webhooks: new rules wake those bindings of which they say another thing than before.
func (w *wakers) webhooks() cache.ResourceEventHandler {
	return w.wakes.On("MutatingWebhookConfiguration", func(e telemetry.Event) {
		now, ok := accessor[*admissionregistrationv1.MutatingWebhookConfiguration](e.Object)
		if !ok || now.Name != binding.WebhookName || e.Cause.What == telemetry.Resynced {
			return
		}
		// One answer is enough for all bindings of a kind: what is not served costs a request.
		intercepted := map[schema.GroupVersionKind]bool{}
		e.EnqueueAll(func(obj any) bool {
			ab, ok := obj.(*v1.AddressBinding)
			if !ok {
				return false
			}
			gvk := subjectKind(ab)
			if _, known := intercepted[gvk]; !known && e.Cause.What != telemetry.Deleted {
				served, err := w.kinds.Find(gvk)
				intercepted[gvk] = err == nil && intercepts(now, served.Resource.GroupResource())
			}
			return intercepted[gvk] != ab.Status.GetCondition(v1.AddressBindingConditionIntercepted).IsTrue()
		}, w.bindings)
	})
}

// indexed are the bindings that an index finds.
func (w *wakers) indexed(index, value string) []any {
	objs, err := w.bindings.GetIndexer().ByIndex(index, value)
	if err != nil {
		// Only an index that was not added fails, which every test would see.
		panic(err)
	}
	return objs
}

// accessor returns an object, or the last state of a deleted one, if it is of a type.
func accessor[T any](obj any) (T, bool) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	typed, ok := obj.(T)
	return typed, ok
}
