/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Representation is an AddressableService of an older version.
type Representation interface {
	apis.Convertible
	metav1.Object
}

type versionsKey struct{}

// WithVersions gives Validate the versions that are served. It is for the context decorator of the validating webhook; without it no object is
// rejected for its representation at another version.
func WithVersions(scheme *runtime.Scheme) func(context.Context) context.Context {
	return func(ctx context.Context) context.Context { return context.WithValue(ctx, versionsKey{}, scheme) }
}

// validateRepresentations rejects an object that an older version cannot represent, unless the version could not represent it
// before either: what was accepted once must not block a later update.
func (as *AddressableService) validateRepresentations(ctx context.Context) (errs *apis.FieldError) {
	scheme, ok := ctx.Value(versionsKey{}).(*runtime.Scheme)
	if !ok {
		return nil
	}
	old, isUpdate := apis.GetBaseline(ctx).(*AddressableService)
	for _, gv := range scheme.PrioritizedVersionsForGroup(samples.GroupName) {
		older, err := scheme.New(gv.WithKind("AddressableService"))
		representation, ok := older.(Representation)
		if err != nil || !ok || gv == SchemeGroupVersion {
			continue
		}
		problem := as.validateRepresentation(ctx, gv.Version, representation)
		if problem.Filter(apis.ErrorLevel) == nil || !isUpdate || old.validateRepresentation(ctx, gv.Version, representation).Filter(apis.ErrorLevel) == nil {
			errs = errs.Also(problem)
		}
	}
	return errs
}

func (as *AddressableService) validateRepresentation(ctx context.Context, version string, representation Representation) *apis.FieldError {
	if err := as.ConvertTo(ctx, representation); err != nil {
		return apis.ErrGeneric("converting the object to "+version+": "+err.Error(), apis.CurrentField)
	}
	return knative.ValidateRepresentation(conversionProperties, version, representation)
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
