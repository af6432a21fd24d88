/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package knative

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion"
)

// Preserve calls Preserve of the annotation, and is for SetDefaults of every version. It changes the object only in updates of the
// object itself: not of a subresource, and not while a conversion calls SetDefaults.
func Preserve(ctx context.Context, annotation conversion.Annotation, object metav1.Object) {
	live, ok := apis.GetBaseline(ctx).(metav1.Object)
	if ok && !IsConverting(ctx) && apis.IsInUpdate(ctx) && apis.GetUpdatedSubresource(ctx) == "" {
		annotation.Preserve(object, live)
	}
}

// Validate calls Validate of the annotation, and is for Validate of every version.
func Validate(ctx context.Context, annotation conversion.Annotation, object metav1.Object) *apis.FieldError {
	if apis.IsInCreate(ctx) {
		return fieldErrors(annotation.Validate(object, nil))
	}
	live, ok := apis.GetBaseline(ctx).(metav1.Object)
	if !ok {
		live = object // outside of admission nothing is new
	}
	return fieldErrors(annotation.Validate(object, live))
}

// ValidateRepresentation calls ValidateRepresentation of the annotation, and is for Validate of the hub version.
func ValidateRepresentation(annotation conversion.Annotation, version string, representation metav1.Object) *apis.FieldError {
	return fieldErrors(annotation.ValidateRepresentation(version, representation))
}

func fieldErrors(findings []conversion.Finding) (errs *apis.FieldError) {
	for _, finding := range findings {
		level := apis.ErrorLevel
		if finding.Warning {
			level = apis.WarningLevel
		}
		errs = errs.Also(&apis.FieldError{Message: finding.Message, Level: level, Paths: []string{finding.Field}, Details: finding.Details})
	}
	return errs
}

type convertingKey struct{}

// WithConverting marks a context as that of a conversion. It is for the context decorator of
// knative.dev/pkg's conversion controller, which calls SetDefaults on every object that it has converted.
func WithConverting(ctx context.Context) context.Context {
	return context.WithValue(ctx, convertingKey{}, true)
}

// IsConverting reports whether SetDefaults is called by a conversion and has to leave the object alone: what is absent before
// a conversion is absent after it.
func IsConverting(ctx context.Context) bool {
	return ctx.Value(convertingKey{}) != nil
}
