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
)

// View is an AddressableService of an older version.
type View interface {
	apis.Convertible
	metav1.Object
}

// Views make an empty object of each older version that is served, by the name of the version. This package cannot import
// them, for they import it.
//
// +k8s:deepcopy-gen=false
type Views map[string]func() View

type viewsKey struct{}

// WithViews gives Validate the older versions that are served. It is for the context decorator of the validating webhook;
// without it nothing is refused for how it would look at another version.
func WithViews(ctx context.Context, views Views) context.Context {
	return context.WithValue(ctx, viewsKey{}, views)
}

// validateViews refuses what could not be shown at an older version, unless it could not be shown before either: what was
// accepted once must not block a later update.
func (as *AddressableService) validateViews(ctx context.Context) *apis.FieldError {
	views, _ := ctx.Value(viewsKey{}).(Views)
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	var errs *apis.FieldError
	for _, version := range slices.Sorted(maps.Keys(views)) {
		problem := as.validateView(ctx, version, views[version]())
		if problem.Filter(apis.ErrorLevel) != nil && isUpdate &&
			old.validateView(ctx, version, views[version]()).Filter(apis.ErrorLevel) != nil {
			continue
		}
		errs = errs.Also(problem)
	}
	return errs
}

func (as *AddressableService) validateView(ctx context.Context, version string, view View) *apis.FieldError {
	if err := as.ConvertTo(ctx, view); err != nil {
		return apis.ErrGeneric("showing the object at "+version+": "+err.Error(), apis.CurrentField)
	}
	return conversionProperties.ValidateView(version, view)
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
