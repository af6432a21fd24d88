/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package knative_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/knative"
)

const annotation = "conversion.example.com/properties"

var properties = conversion.Annotation{Name: annotation}

func withAnnotation(text string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Annotations: map[string]string{annotation: text}}
}

func TestPreserve_UpdateOfTheObject_LiveAnnotationWins(t *testing.T) {
	object := withAnnotation("sent")
	knative.Preserve(apis.WithinUpdate(t.Context(), withAnnotation("live")), properties, object)
	if got := object.Annotations[annotation]; got != "live" {
		t.Errorf("the annotation is %q", got)
	}
}

func TestAdmission_OutsideOfUpdates_LeavesTheAnnotation(t *testing.T) {
	live := withAnnotation("live")
	for reason, ctx := range map[string]context.Context{
		"create":                 apis.WithinCreate(t.Context()),
		"reconciler":             t.Context(),
		"status":                 apis.WithinSubResourceUpdate(t.Context(), live, "status"),
		"scale":                  apis.WithinSubResourceUpdate(t.Context(), live, "scale"),
		"conversion":             knative.WithConverting(apis.WithinUpdate(t.Context(), live)),
		"without a live object":  apis.WithinUpdate(t.Context(), nil),
		"live object is no such": apis.WithinUpdate(t.Context(), "object"),
	} {
		object := withAnnotation("sent")
		knative.Preserve(ctx, properties, object)
		if got := object.Annotations[annotation]; got != "sent" {
			t.Errorf("%s: the annotation is %q", reason, got)
		}
	}
}

func TestValidate_TruncatedRepresentation_IsRejected(t *testing.T) {
	truncated := &metav1.ObjectMeta{Labels: map[string]string{properties.TruncatedLabel(): "70000"}}
	unmarked := &metav1.ObjectMeta{}
	for name, validate := range map[string]func(context.Context) *apis.FieldError{
		"create": func(ctx context.Context) *apis.FieldError {
			return knative.Validate(apis.WithinCreate(ctx), properties, truncated)
		},
		"update": func(ctx context.Context) *apis.FieldError {
			return knative.Validate(apis.WithinUpdate(ctx, truncated), properties, truncated)
		},
		"update without the label": func(ctx context.Context) *apis.FieldError {
			return knative.Validate(apis.WithinUpdate(ctx, truncated), properties, unmarked)
		},
		"status": func(ctx context.Context) *apis.FieldError {
			return knative.Validate(apis.WithinSubResourceUpdate(ctx, truncated, "status"), properties, truncated)
		},
		"reconciler": func(ctx context.Context) *apis.FieldError { return knative.Validate(ctx, properties, truncated) },
	} {
		const want = "this version cannot represent the object without losing data: metadata.annotations\n" +
			"conversion.example.com/properties: the properties of other versions need 70000 bytes, "
		if got := validate(t.Context()); got.Filter(apis.ErrorLevel) == nil || !strings.HasPrefix(got.Error(), want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestValidate_AnnotationOfANewObject_IsWarnedAbout(t *testing.T) {
	copied := withAnnotation("{}")
	got := knative.Validate(apis.WithinCreate(t.Context()), properties, copied)
	if got.Filter(apis.ErrorLevel) != nil || got.Filter(apis.WarningLevel) == nil {
		t.Errorf("create: %v", got)
	}
	for name, ctx := range map[string]context.Context{"update": apis.WithinUpdate(t.Context(), copied), "reconciler": t.Context()} {
		if got := knative.Validate(ctx, properties, copied); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestValidateRepresentation_LevelsAreThoseOfTheFindings(t *testing.T) {
	got := knative.ValidateRepresentation(properties, "v1alpha1", withAnnotation(strings.Repeat("x", conversion.SoftLimit+1)))
	if got.Filter(apis.ErrorLevel) != nil || got.Filter(apis.WarningLevel) == nil {
		t.Errorf("a large annotation: %v", got)
	}
	truncated := &metav1.ObjectMeta{Labels: map[string]string{properties.TruncatedLabel(): "70000"}}
	got = knative.ValidateRepresentation(properties, "v1alpha1", truncated)
	if got.Filter(apis.ErrorLevel) == nil || !strings.HasPrefix(got.Error(), "v1alpha1 cannot represent the object") {
		t.Errorf("a truncated one: %v", got)
	}
	if got := knative.ValidateRepresentation(properties, "v1alpha1", &metav1.ObjectMeta{}); got != nil {
		t.Errorf("without the annotation: %v", got)
	}
}

func TestAdmission_MarkedContext_IsThatOfAConversion(t *testing.T) {
	if knative.IsConverting(t.Context()) || !knative.IsConverting(knative.WithConverting(t.Context())) {
		t.Error("the mark is not what decides")
	}
}
