/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
)

// Representation is an AddressableService of an older version.
type Representation interface {
	apis.Convertible
	metav1.Object
}

// Representations create an empty object of each older version that is served, by the name of the version. This package
// cannot import these versions, for they import it.
//
// +k8s:deepcopy-gen=false
type Representations map[string]func() Representation

type representationsKey struct{}

// WithRepresentations gives Validate the older versions that are served. It is for the context decorator of the validating
// webhook; without it no object is rejected for its representation at another version.
func WithRepresentations(ctx context.Context, representations Representations) context.Context {
	return context.WithValue(ctx, representationsKey{}, representations)
}

// validateRepresentations rejects an object that an older version cannot represent, unless the version could not represent it
// before either: what was accepted once must not block a later update.
func (as *AddressableService) validateRepresentations(ctx context.Context) *apis.FieldError {
	representations, _ := ctx.Value(representationsKey{}).(Representations)
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	var errs *apis.FieldError
	for _, version := range slices.Sorted(maps.Keys(representations)) {
		problem := as.validateRepresentation(ctx, version, representations[version]())
		if problem.Filter(apis.ErrorLevel) != nil && isUpdate &&
			old.validateRepresentation(ctx, version, representations[version]()).Filter(apis.ErrorLevel) != nil {
			continue
		}
		errs = errs.Also(problem)
	}
	return errs
}

func (as *AddressableService) validateRepresentation(ctx context.Context, version string, representation Representation) *apis.FieldError {
	if err := as.ConvertTo(ctx, representation); err != nil {
		return apis.ErrGeneric("converting the object to "+version+": "+err.Error(), apis.CurrentField)
	}
	return knative.ValidateRepresentation(conversionProperties, version, representation)
}

// ValidateConverted is for the Validate of older versions. It checks what an object is at this version, and after an update
// also what it was: an older version must not be a way round the rules of this one.
func ValidateConverted(ctx context.Context, older apis.Convertible) *apis.FieldError {
	as := &AddressableService{}
	if err := older.ConvertTo(ctx, as); err != nil {
		return apis.ErrGeneric("converting to v1: "+err.Error(), apis.CurrentField)
	}
	if baseline, ok := apis.GetBaseline(ctx).(apis.Convertible); ok && apis.IsInUpdate(ctx) {
		old := &AddressableService{}
		if err := baseline.ConvertTo(ctx, old); err != nil {
			return apis.ErrGeneric("converting the live object to v1: "+err.Error(), apis.CurrentField)
		}
		ctx = apis.WithinUpdate(ctx, old)
	}
	return as.Validate(ctx)
}
