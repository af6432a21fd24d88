/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/webhook/resourcesemantics"
	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// object is what every version of a kind has to be for the webhooks of admission.
type object interface {
	resourcesemantics.GenericCRD
	metav1.Object
}

// convertible is what each version has to be, besides, of a kind that has several.
type convertible interface {
	object
	knativeconversion.ConvertibleObject
}

// kind is a kind in all versions that are served.
type kind struct {
	// resource is the plural.
	resource string
	// hub is the version that is stored, and that all others are converted from and to.
	hub string
	// versions make empty objects.
	versions map[string]func() object
}

// kinds are those that are completed and checked, and converted if they have several versions. Each is listed once for all
// webhooks.
type kinds map[schema.GroupKind]kind

// served are the kinds of the operator. A version stays as long as it may be stored or stand in managedFields, from which
// the API server converts on every write.
var served = kinds{
	v1.Kind("AddressableService"): {
		resource: "addressableservices",
		hub:      v1.SchemeGroupVersion.Version,
		versions: map[string]func() object{
			v1alpha1.SchemeGroupVersion.Version: func() object { return &v1alpha1.AddressableService{} },
			v1beta1.SchemeGroupVersion.Version:  func() object { return &v1beta1.AddressableService{} },
			v1.SchemeGroupVersion.Version:       func() object { return &v1.AddressableService{} },
		},
	},
	v1.Kind("AddressBinding"): {
		resource: "addressbindings",
		hub:      v1.SchemeGroupVersion.Version,
		versions: map[string]func() object{
			v1.SchemeGroupVersion.Version: func() object { return &v1.AddressBinding{} },
		},
	},
	v1.Kind("SimpleDeployment"): {
		resource: "simpledeployments",
		hub:      v1alpha1.SchemeGroupVersion.Version,
		versions: map[string]func() object{
			v1alpha1.SchemeGroupVersion.Version: func() object { return &v1alpha1.SimpleDeployment{} },
		},
	},
}

// handlers are the kinds as the webhooks of admission want them.
func (k kinds) handlers() map[schema.GroupVersionKind]resourcesemantics.GenericCRD {
	all := make(map[schema.GroupVersionKind]resourcesemantics.GenericCRD)
	for groupKind, kind := range k {
		for version, newObject := range kind.versions {
			all[groupKind.WithVersion(version)] = newObject()
		}
	}
	return all
}

// conversions are the kinds as the webhook of conversion wants them. Of one version there is nothing to convert, and its
// CustomResourceDefinition names no webhook.
func (k kinds) conversions() map[schema.GroupKind]knativeconversion.GroupKindConversion {
	all := make(map[schema.GroupKind]knativeconversion.GroupKindConversion, len(k))
	for groupKind, kind := range k {
		if len(kind.versions) == 1 {
			continue
		}
		zygotes := make(map[string]knativeconversion.ConvertibleObject, len(kind.versions))
		for version, newObject := range kind.versions {
			zygotes[version] = newObject().(convertible) //nolint:forcetypeassert // at the start, for every kind of the list
		}
		all[groupKind] = knativeconversion.GroupKindConversion{
			DefinitionName: kind.definition(groupKind), HubVersion: kind.hub, Zygotes: zygotes,
		}
	}
	return all
}

// definitions are the names of the CustomResourceDefinitions of the kinds that are converted, sorted.
func (k kinds) definitions() []string {
	var names []string
	for _, conversion := range k.conversions() {
		names = append(names, conversion.DefinitionName)
	}
	slices.Sort(names)
	return names
}

// definition is the name of the kind's CustomResourceDefinition.
func (k kind) definition(of schema.GroupKind) string {
	return schema.GroupResource{Group: of.Group, Resource: k.resource}.String()
}

// views are the older versions of a v1.AddressableService.
func views() v1.Views {
	kind := served[v1.Kind("AddressableService")]
	older := make(v1.Views, len(kind.versions)-1)
	for version, newObject := range kind.versions {
		if version != kind.hub {
			older[version] = func() v1.View { return newObject().(convertible) } //nolint:forcetypeassert // see conversions
		}
	}
	return older
}
