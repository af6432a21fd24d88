/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"context"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"

	v1 "example.com/backup/apis/v1"
)

// SetDefaults implements apis.Defaultable. Conversions call it, too, which must not add anything.
func (in *Backup) SetDefaults(ctx context.Context) {
	if knative.IsConverting(ctx) {
		return
	}
	knative.Preserve(ctx, conversionProperties, in)
}

// Validate implements apis.Validatable. The stash is part of the object, too, so the rules are those of v1.
func (in *Backup) Validate(ctx context.Context) *apis.FieldError {
	errs := knative.Validate(ctx, conversionProperties, in)
	var hub v1.Backup
	if err := in.ConvertTo(ctx, &hub); err != nil {
		return errs.Also(apis.ErrGeneric(err.Error(), apis.CurrentField))
	}
	return errs.Also(hub.ValidateSpec())
}
