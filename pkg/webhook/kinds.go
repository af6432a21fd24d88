/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/version"

	"knative.dev/pkg/webhook/resourcesemantics"
	"knative.dev/pkg/webhook/resourcesemantics/conversion"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// served has the kinds of the operator in all versions. A version stays as long as objects may be stored at it or managedFields name it,
// since the API server converts from these on every write.
var served = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(v1alpha1.Install, v1beta1.Install, v1.Install)
	utilruntime.Must(builder.AddToScheme(scheme))
	return scheme
}()

// instances returns an empty object of each version of a kind whose type implements T.
func instances[T any]() map[schema.GroupVersionKind]T {
	all := make(map[schema.GroupVersionKind]T)
	for gvk := range served.AllKnownTypes() {
		object, err := served.New(gvk)
		utilruntime.Must(err) // the scheme has just listed it
		if t, ok := object.(T); ok {
			all[gvk] = t
		}
	}
	return all
}

// admitted are the kinds with defaults and validation. One without is not sent to the webhook, and can be written while no webhook runs.
func admitted() map[schema.GroupVersionKind]resourcesemantics.GenericCRD {
	return instances[resourcesemantics.GenericCRD]()
}

// conversions are the kinds of several versions. The most stable one is the hub, which the CRD stores, or the version before it during a roll-out.
func conversions() map[schema.GroupKind]conversion.GroupKindConversion {
	all := make(map[schema.GroupKind]conversion.GroupKindConversion)
	for gvk, object := range instances[conversion.ConvertibleObject]() {
		kind, ok := all[gvk.GroupKind()]
		if !ok {
			plural, _ := meta.UnsafeGuessKindToResource(gvk)
			kind = conversion.GroupKindConversion{
				DefinitionName: plural.GroupResource().String(), Zygotes: make(map[string]conversion.ConvertibleObject),
			}
		}
		kind.Zygotes[gvk.Version] = object
		if version.CompareKubeAwareVersionStrings(gvk.Version, kind.HubVersion) > 0 {
			kind.HubVersion = gvk.Version
		}
		all[gvk.GroupKind()] = kind
	}
	maps.DeleteFunc(all, func(_ schema.GroupKind, kind conversion.GroupKindConversion) bool { return len(kind.Zygotes) == 1 })
	return all
}
