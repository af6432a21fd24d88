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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/lru"

	"knative.dev/pkg/apis/duck"
	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// The sources of the reconciler, apart from subjects.
var (
	addressBindings     = observe.Injected[*v1.AddressBinding](addressbindinginformer.Get, observe.Transform(observe.DropManagedFields))
	addressableServices = observe.Injected[*v1.AddressableService](addressableserviceinformer.Get, observe.Transform(observe.DropManagedFields))
	namespaces          = observe.Injected[*corev1.Namespace](namespaceinformer.Get, observe.Transform(observe.DropManagedFields))
	crds                = observe.Injected[*apiextensionsv1.CustomResourceDefinition](crdinformer.Get, observe.Transform(restmapping.Trim))
	configurations      = observe.Injected[*admissionregistrationv1.MutatingWebhookConfiguration](mutatinginformer.Get,
		observe.Transform(observe.DropManagedFields))
)

// dependents finds the bindings that depend on something, in the cache of bindings. So nothing has to be tracked: a binding that the cache gets
// later is reconciled for its own event.
type dependents struct {
	bindings observe.Lister[*v1.AddressBinding]
	// choices are the results of binding.ChosenBy for bindings in the cache, which each event of a subject needs. To parse a selector costs
	// much more than to match it.
	choices *lru.Cache
}

// maxChoices bounds the memory for choices to a few MiB.
const maxChoices = 10_000

func newDependents(bindings observe.Lister[*v1.AddressBinding]) *dependents {
	return &dependents{bindings: bindings, choices: lru.New(maxChoices)}
}

// in returns the bindings of a namespace that an event affects.
func (d *dependents) in(namespace string, affected func(*v1.AddressBinding) bool) []types.NamespacedName {
	return observe.Keys(slices.DeleteFunc(d.bindings.ByIndex(cache.NamespaceIndex, namespace), func(ab *v1.AddressBinding) bool { return !affected(ab) })...)
}

// onBinding returns the bindings that may want the same variable.
func (d *dependents) onBinding(e observe.Event[*v1.AddressBinding]) []types.NamespacedName {
	updated := e.Type == observe.Updated
	if updated && claimsAlike(e.Old, e.Object) {
		return nil
	}
	return d.in(e.Object.Namespace, func(ab *v1.AddressBinding) bool { return contend(ab, e.Object) || updated && contend(ab, e.Old) })
}

// contend reports whether two bindings may want the same variable of the same object.
func contend(a, b *v1.AddressBinding) bool {
	return a.Name != b.Name && a.Spec.Variable == b.Spec.Variable && subjectGVK(a).GroupKind() == subjectGVK(b).GroupKind()
}

// claimsAlike reports whether two states of a binding are the same to other bindings.
func claimsAlike(a, b *v1.AddressBinding) bool {
	return a.UID == b.UID && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) && a.Status.Value == b.Status.Value &&
		a.Status.LacksAddress() == b.Status.LacksAddress() && binding.Unserved(a) == binding.Unserved(b) &&
		equality.Semantic.DeepEqual(a.Spec, b.Spec) && equality.Semantic.DeepEqual(a.Status.Kinds, b.Status.Kinds)
}

// onAddressableService returns the bindings of an AddressableService.
func (d *dependents) onAddressableService(as *v1.AddressableService) []types.NamespacedName {
	return d.in(as.Namespace, func(ab *v1.AddressBinding) bool { return ab.Spec.Address.Name == as.Name })
}

// onSubject returns the bindings that choose an object, or chose it before its labels changed.
func (d *dependents) onSubject(e observe.Event[ducks.Object]) []types.NamespacedName {
	updated := e.Type == observe.Updated
	if updated && subjectsAlike(e.Old, e.Object) {
		return nil
	}
	return d.in(e.Object.GetNamespace(), func(ab *v1.AddressBinding) bool { return d.concerns(ab, e.Object) || updated && d.concerns(ab, e.Old) })
}

// concerns reports whether a binding chooses an object, or may have left variables in it because it is of a former kind.
func (d *dependents) concerns(ab *v1.AddressBinding, object kmeta.Accessor) bool {
	kind := object.GroupVersionKind().GroupKind()
	if kind == subjectGVK(ab).GroupKind() {
		return d.chosenBy(ab)(object)
	}
	_, recorded := binding.Recorded(ab, kind)
	return recorded
}

// chosenBy is binding.ChosenBy for a binding in the cache, which replaces the object whenever it changes.
func (d *dependents) chosenBy(ab *v1.AddressBinding) func(metav1.Object) bool {
	key := weak.Make(ab)
	if known, ok := d.choices.Get(key); ok {
		return known.(func(metav1.Object) bool) //nolint:forcetypeassert // added below
	}
	chosen := binding.ChosenBy(&ab.Spec.Subject)
	d.choices.Add(key, chosen)
	return chosen
}

// subjectsAlike reports whether two states of an object are the same to bindings. Most updates are of a status.
func subjectsAlike(a, b metav1.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetGeneration() != 0 && a.GetGeneration() == b.GetGeneration() &&
		(a.GetDeletionTimestamp() == nil) == (b.GetDeletionTimestamp() == nil) && maps.Equal(a.GetLabels(), b.GetLabels()) &&
		a.GetAnnotations()[samples.BoundVariablesAnnotationKey] == b.GetAnnotations()[samples.BoundVariablesAnnotationKey] &&
		binding.Controlled(a) == binding.Controlled(b) && binding.Finished(a) == binding.Finished(b)
}

// onServed returns the bindings that have, or had, subjects in the group of one of these versions, whose kinds can be read now, or no longer.
func (d *dependents) onServed(versions sets.Set[schema.GroupVersion]) []types.NamespacedName {
	groups := sets.New[string]()
	for version := range versions {
		groups.Insert(version.Group)
	}
	return observe.Keys(d.bindings.List(withSubjectsIn(groups))...)
}

// withSubjectsIn accepts the bindings that have, or had, subjects in one of these API groups.
func withSubjectsIn(groups sets.Set[string]) func(*v1.AddressBinding) bool {
	return func(ab *v1.AddressBinding) bool {
		return groups.Has(subjectGVK(ab).Group) || slices.ContainsFunc(ab.Status.Kinds, func(k v1.SubjectKind) bool {
			return groups.Has(binding.KindOf(k.APIVersion, k.Kind).Group)
		})
	}
}

// onNamespace returns all bindings in a namespace that opts in or out of bindings or webhooks.
func (d *dependents) onNamespace(e observe.Event[*corev1.Namespace]) []types.NamespacedName {
	if e.Type == observe.Updated && namespacesAlike(e.Old, e.Object) {
		return nil
	}
	return d.in(e.Object.Name, func(*v1.AddressBinding) bool { return true })
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

type crdEvent = observe.Event[*apiextensionsv1.CustomResourceDefinition]

// onCRD returns the bindings with subjects in the group of a CRD, and stops the informers of what it no longer serves.
func (d *dependents) onCRD(mapper *restmapping.Mapper, subjects stopper) func(crdEvent) []types.NamespacedName {
	return func(e crdEvent) []types.NamespacedName {
		subjects.Stop(mapper.Changed(e.Object, e.Type == observe.Deleted))
		return observe.Keys(d.bindings.List(withSubjectsIn(sets.New(e.Object.Spec.Group)))...)
	}
}

// onWebhook returns the bindings whose condition Intercepted is no longer true.
func (d *dependents) onWebhook(e observe.Event[*admissionregistrationv1.MutatingWebhookConfiguration]) []types.NamespacedName {
	if e.Object.Name != binding.WebhookName {
		return nil
	}
	return observe.Keys(d.bindings.List(func(ab *v1.AddressBinding) bool {
		resource, recorded := subjectResource(ab)
		return recorded && (e.Type != observe.Deleted && intercepts(e.Object, resource)) !=
			ab.Status.GetCondition(v1.AddressBindingConditionIntercepted).IsTrue()
	})...)
}
