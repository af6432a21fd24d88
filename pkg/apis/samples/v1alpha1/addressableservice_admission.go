/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"context"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on create and update. The spec has
// nothing that could be left out; what v1 would default is defaulted where the object is used.
func (as *AddressableService) SetDefaults(ctx context.Context) {
	if knative.IsConverting(ctx) {
		return
	}
	knative.Preserve(ctx, conversionProperties, as)
	v1.SetMetadataDefaults(ctx, as)
}

// Validate implements apis.Validatable. The validating webhook calls it on create and update. It judges what the object
// is at v1: the empty name of a Service, for one, is right where v1 has a target that no name stands for.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	if missing := as.validateServiceName(ctx); missing != nil {
		return missing.Also(knative.Validate(ctx, conversionProperties, as))
	}
	return v1.ValidateConverted(ctx, as)
}

// validateServiceName finds an object without a target before v1 does, whose fields have other names.
func (as *AddressableService) validateServiceName(ctx context.Context) *apis.FieldError {
	if as.Spec.ServiceName != "" {
		return nil
	}
	// A value that was accepted before must not block a later update of another field.
	if old, ok := apis.GetBaseline(ctx).(*AddressableService); ok && (old.Spec == as.Spec || as.DeletionTimestamp != nil) {
		return nil
	}
	var converted v1.AddressableService
	if err := as.ConvertTo(ctx, &converted); err != nil || converted.Spec.Ref != (v1.TargetReference{}) {
		return nil //nolint:nilerr // ValidateConverted reports it
	}
	return apis.ErrMissingField("spec.serviceName")
}
