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
	knative.Preserve(ctx, conversionProperties, as)
	v1.SetMetadataDefaults(ctx, as)
}

// Validate implements apis.Validatable. The validating webhook calls it on create and update. It judges what the object is at v1:
// the empty name of a Service, for one, is right where v1 has a target that no name stands for.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	return v1.ValidateConverted(ctx, as, "spec.serviceName")
}
