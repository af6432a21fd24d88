/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	knativeconversion "knative.dev/pkg/webhook/resourcesemantics/conversion"

	"github.com/mallard-dev/mallard/conversion/knative"
)

// NewConversionController converts objects between the versions of their kind, without setting defaults.
func NewConversionController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	return await(ctx, knativeconversion.NewConversionController(ctx, "/conversion", served.conversions(), knative.WithConverting))
}

// convertible is implemented by every version of a kind that has several.
type convertible interface {
	object
	knativeconversion.ConvertibleObject
}

// conversions returns the kinds of several versions. The CRD of any other names no conversion webhook.
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
			DefinitionName: crdName(groupKind), HubVersion: kind.hub, Zygotes: zygotes,
		}
	}
	return all
}

// convertedCRDs returns the names of the CRDs of the kinds of several versions, sorted.
func (k kinds) convertedCRDs() []string {
	var names []string
	for _, conversion := range k.conversions() {
		names = append(names, conversion.DefinitionName)
	}
	slices.Sort(names)
	return names
}

// crdName returns the name of the kind's CRD.
func crdName(of schema.GroupKind) string {
	plural, _ := meta.UnsafeGuessKindToResource(of.WithVersion(""))
	return plural.GroupResource().String()
}
