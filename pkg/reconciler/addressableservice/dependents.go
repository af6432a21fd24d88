/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	serviceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/service"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// Names of the indexes that this reconciler adds to its sources.
const (
	// byAlias finds AddressableServices by the alias that they request.
	byAlias = "alias"

	// byTarget tracks targets of any kind: it finds the AddressableServices that refer to an object. Unlike the tracker of knative.dev/pkg it
	// forgets a reference that has changed. Nothing is lost before an object is in the index, because it is then reconciled for its own event.
	byTarget = "target"

	// byTargetKind finds AddressableServices by the group and kind of their target.
	byTargetKind = "targetKind"

	// byDirectory finds an AddressableService by a namespace that its status records for aliases, and its own key.
	byDirectory = "directory"

	// aliasesByOwner finds Services by their namespace and the object of which they claim to be aliases.
	aliasesByOwner = "aliasOwner"
)

// The sources of the reconciler.
var (
	addressableServices = observe.Injected[*v1.AddressableService](addressableserviceinformer.Get, observe.Transform(observe.DropManagedFields),
		observe.Index(byAlias, aliasOf), observe.Index(byTarget, targetOf), observe.Index(byTargetKind, targetKindOf),
		observe.Index(byDirectory, directoriesOf))
	services = observe.Injected[*corev1.Service](serviceinformer.Get, observe.Transform(observe.DropManagedFields),
		observe.Index(aliasesByOwner, publisherOf))
	namespaces = observe.Injected[*corev1.Namespace](namespaceinformer.Get, observe.Transform(observe.DropManagedFields))
	crds       = observe.Injected[*apiextensionsv1.CustomResourceDefinition](crdinformer.Get, observe.Transform(restmapping.Trim))
)

func aliasOf(as *v1.AddressableService) []string {
	if as.Spec.Publish == nil {
		return nil
	}
	return []string{as.Spec.Publish.Alias}
}

func targetOf(as *v1.AddressableService) []string {
	ref := as.Spec.Ref
	// Only the cluster knows whether a kind is namespaced.
	return []string{indexOf(ref.GroupKind(), ref.NamespaceOr(as.Namespace), ref.Name), indexOf(ref.GroupKind(), "", ref.Name)}
}

func targetKindOf(as *v1.AddressableService) []string {
	return []string{as.Spec.Ref.GroupKind().String()}
}

func directoriesOf(as *v1.AddressableService) (values []string) {
	for _, directory := range as.Status.Directories() {
		values = append(values, inDirectory(directory, keyOf(as)))
	}
	return values
}

func publisherOf(service *corev1.Service) []string {
	if owner, ok := ownerOf(service); ok {
		return []string{inDirectory(service.Namespace, owner)}
	}
	return nil
}

func inDirectory(directory string, owner types.NamespacedName) string {
	return directory + ": " + owner.String()
}

func indexOf(kind schema.GroupKind, namespace, name string) string {
	return kind.String() + "/" + namespace + "/" + name
}

// isOurs reports whether an object has our class.
func isOurs(as *v1.AddressableService) bool {
	return as.Annotations[samples.ClassAnnotationKey] == samples.ClassMallard
}

// dependents finds the objects of our class that depend on something.
type dependents struct {
	objects observe.Lister[*v1.AddressableService]
	config  *config.Store
}

func (d dependents) indexed(index, value string) []types.NamespacedName {
	var ours []*v1.AddressableService
	for _, as := range d.objects.ByIndex(index, value) {
		if isOurs(as) {
			ours = append(ours, as)
		}
	}
	return observe.Keys(ours...)
}

func (d dependents) all(accept func(*v1.AddressableService) bool) []types.NamespacedName {
	return observe.Keys(d.objects.List(func(as *v1.AddressableService) bool { return isOurs(as) && accept(as) })...)
}

// onConfig returns all, because the status of each depends on the configuration.
func (d dependents) onConfig() []types.NamespacedName {
	return d.all(func(*v1.AddressableService) bool { return true })
}

// onTarget returns those that refer to an object. A reference to another namespace is denied, whatever the state of the target, unless the
// configuration allows it.
func (d dependents) onTarget(kind schema.GroupKind, target metav1.Object) []types.NamespacedName {
	namespace, allowed := target.GetNamespace(), d.config.Load().AllowCrossNamespaceReferences
	return slices.DeleteFunc(d.indexed(byTarget, indexOf(kind, namespace, target.GetName())), func(key types.NamespacedName) bool {
		return namespace != "" && key.Namespace != namespace && !allowed
	})
}

// onObject returns those that refer to an AddressableService, whatever its class.
func (d dependents) onObject(as *v1.AddressableService) []types.NamespacedName {
	return d.onTarget(as.GetGroupVersionKind().GroupKind(), as)
}

// onDuck returns those that refer to an object of a kind that is known only at run time.
func (d dependents) onDuck(target ducks.Object) []types.NamespacedName {
	return d.onTarget(target.GroupVersionKind().GroupKind(), target)
}

// onService returns those that refer to a Service, the owner of the alias that it is, and those that wait for that alias. Outside of the
// directory, where users can create Services that claim to be aliases, an owner has to have recorded the namespace.
func (d dependents) onService(service *corev1.Service) []types.NamespacedName {
	keys := d.onTarget(serviceKind.GroupKind(), service)
	owner, isAlias := ownerOf(service)
	if service.Namespace == d.config.Load().DirectoryNamespace {
		keys = append(keys, d.indexed(byAlias, service.Name)...)
		if isAlias {
			keys = append(keys, owner)
		}
	} else if isAlias {
		keys = append(keys, d.indexed(byDirectory, inDirectory(service.Namespace, owner))...)
	}
	return keys
}

// onNamespace returns those that publish, if the directory namespace is created, deleted or terminating.
func (d dependents) onNamespace(namespace *corev1.Namespace) []types.NamespacedName {
	if namespace.Name != d.config.Load().DirectoryNamespace {
		return nil
	}
	return d.all(func(as *v1.AddressableService) bool { return as.Spec.Publish != nil })
}

// onServed returns those whose target is at one of these versions.
func (d dependents) onServed(versions sets.Set[schema.GroupVersion]) []types.NamespacedName {
	return d.all(func(as *v1.AddressableService) bool {
		return versions.Has(as.Spec.Ref.GroupVersionKind().GroupVersion())
	})
}

type crdEvent = observe.Event[*apiextensionsv1.CustomResourceDefinition]

// onCRD returns those that refer to the kind of a CRD, and stops the informers of what it no longer serves.
func (d dependents) onCRD(mapper *restmapping.Mapper, addressables *ducks.Factory) func(crdEvent) []types.NamespacedName {
	return func(e crdEvent) []types.NamespacedName {
		addressables.Stop(mapper.Changed(e.Object, e.Type == observe.Deleted))
		return d.indexed(byTargetKind, restmapping.GroupKindOf(e.Object).String())
	}
}
