/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"context"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// SetDefaults implements apis.Defaultable. The defaulting webhook calls it on create and update; knative.dev/pkg also
// calls it before each reconcile and after each conversion, where nothing is added.
func (as *AddressableService) SetDefaults(ctx context.Context) {
	knative.Preserve(ctx, conversionProperties, as)
	// As at v1, a field that an object was created without is not defaulted later.
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	if as.Spec.Exposure == "" && (apis.IsInCreate(ctx) || isUpdate && old.Spec.Exposure != "") {
		as.Spec.Exposure = ExposureInternal
	}
	v1.SetMetadataDefaults(ctx, as)
}

// Validate implements apis.Validatable. The validating webhook calls it on create and update. The schema has seen to
// the fields of this version; what they are together with those that it cannot show is for v1 to judge.
func (as *AddressableService) Validate(ctx context.Context) *apis.FieldError {
	return v1.ValidateConverted(ctx, as, "spec.ref")
}
