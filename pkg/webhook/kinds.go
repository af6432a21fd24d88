/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// object is implemented by every version of a kind. A kind has rules of its own if its types also implement apis.Defaultable or
// apis.Validatable; one with neither is not sent to the webhook, and can be written while no webhook runs.
type object interface {
	runtime.Object
	metav1.Object
}

// convertible is implemented by every version of a kind that has several.
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

// kinds lists each kind once for all webhooks.
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

// admitted returns a callback for each version of a kind whose type implements I. From these the controllers of knative.dev/pkg make
// the rules of a webhook configuration.
func admitted[I, C any](k kinds, callback C) map[schema.GroupVersionKind]C {
	all := make(map[schema.GroupVersionKind]C)
	for groupKind, kind := range k {
		for version, newObject := range kind.versions {
			if _, ok := newObject().(I); ok {
				all[groupKind.WithVersion(version)] = callback
			}
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
