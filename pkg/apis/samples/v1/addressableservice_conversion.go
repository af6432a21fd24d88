/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/knative"
)

// Representation is an AddressableService of an older version.
type Representation interface {
	apis.Convertible
	metav1.Object
}

// ValidateConverted is for the Validate of older versions. It checks the annotation, what an object is at this version, and after an update
// also what it was: an older version must not be a way round the rules of this one. targetField is where the older version has the target.
func ValidateConverted(ctx context.Context, older Representation, targetField string) *apis.FieldError {
	if older.GetDeletionTimestamp() != nil {
		return nil
	}
	errs := knative.Validate(ctx, conversion.Annotation{Name: conversionProperties.Name}, older)
	if apis.GetUpdatedSubresource(ctx) != "" {
		return errs
	}
	as, old := &AddressableService{}, &AddressableService{}
	if err := older.ConvertTo(ctx, as); err != nil {
		return errs.Also(apis.ErrGeneric("converting to v1: "+err.Error(), apis.CurrentField))
	}
	if baseline, ok := apis.GetBaseline(ctx).(apis.Convertible); ok {
		if err := baseline.ConvertTo(ctx, old); err != nil {
			return errs.Also(apis.ErrGeneric("converting the live object to v1: "+err.Error(), apis.CurrentField))
		}
		ctx = apis.WithinUpdate(ctx, old)
	}
	// A value that was accepted before must not block a later update of another field.
	if as.Spec.Ref == (TargetReference{}) && (old.Spec.Ref != as.Spec.Ref || !apis.IsInUpdate(ctx)) {
		return errs.Also(apis.ErrMissingField(targetField))
	}
	return errs.Also(as.Validate(ctx))
}
