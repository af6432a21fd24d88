/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
)

// SetDefaults implements apis.Defaultable. Conversions call it, too, which must not add anything.
func (in *Backup) SetDefaults(ctx context.Context) {
	if knative.IsConverting(ctx) {
		return
	}
	knative.Preserve(ctx, conversionProperties, in)
}

// Validate implements apis.Validatable.
func (in *Backup) Validate(ctx context.Context) *apis.FieldError {
	return knative.Validate(ctx, conversionProperties, in).Also(in.ValidateSpec())
}

// ValidateSpec checks what holds whichever version the object is written at.
func (in *Backup) ValidateSpec() *apis.FieldError {
	if retention := in.Spec.Retention; retention != nil && retention.Duration <= 0 {
		return apis.ErrInvalidValue(retention.Duration, "spec.retention", "a backup is kept for longer than no time")
	}
	return nil
}
