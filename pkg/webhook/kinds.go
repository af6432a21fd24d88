/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/version"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// served are the kinds of the operator in all versions. A version stays as long as objects may be stored at it or managedFields name it,
// since the API server converts from these on every write.
var served = kindsOf(v1alpha1.Install, v1beta1.Install, v1.Install)

// object is implemented by every version of a kind. A kind has its own rules if its types also implement apis.Defaultable or
// apis.Validatable; one with neither is not sent to the webhook, and can be written while no webhook runs.
type object interface {
	runtime.Object
	metav1.Object
}

// kind is a kind in all versions that are served.
type kind struct {
	// hub is the most stable version, to and from which all others are converted. The CRD stores it.
	hub string
	// versions make empty objects.
	versions map[string]func() object
}

// kinds lists each kind once for all webhooks.
type kinds map[schema.GroupKind]kind

// kindsOf returns the kinds whose types the functions add to a scheme. Lists and the options of requests, which they add too, have no
// metadata of an object.
func kindsOf(install ...func(*runtime.Scheme) error) kinds {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(install...)
	utilruntime.Must(builder.AddToScheme(scheme))
	all := make(kinds)
	for gvk := range scheme.AllKnownTypes() {
		newObject := func() object {
			empty, err := scheme.New(gvk)
			utilruntime.Must(err) // the scheme has just listed it
			o, _ := empty.(object)
			return o
		}
		if newObject() == nil {
			continue
		}
		k, ok := all[gvk.GroupKind()]
		if !ok {
			k.versions = make(map[string]func() object)
		}
		k.versions[gvk.Version] = newObject
		if version.CompareKubeAwareVersionStrings(gvk.Version, k.hub) > 0 {
			k.hub = gvk.Version
		}
		all[gvk.GroupKind()] = k
	}
	return all
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
