/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion"
)

func withAnnotations(annotations map[string]string) *oldWidget {
	return &oldWidget{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
}

func TestInAnUpdateTheLiveAnnotationWins(t *testing.T) {
	type is = map[string]string
	const a, live = annotation, "live"
	for reason, c := range map[string]struct{ live, sent, old, hub is }{
		"left out with all others":  {is{a: live}, nil, is{a: live}, is{a: live}},
		"left out":                  {is{a: live, "x": "1"}, is{"y": "2"}, is{a: live, "y": "2"}, is{a: live, "y": "2"}},
		"edited":                    {is{a: live}, is{a: "edited"}, is{a: live}, is{a: live}},
		"unchanged":                 {is{a: live}, is{a: live}, is{a: live}, is{a: live}},
		"emptied":                   {is{a: live, "x": "1"}, is{a: "", "x": "1"}, is{a: live, "x": "1"}, is{"x": "1"}},
		"brought along":             {nil, is{a: "stale", "x": "1"}, is{"x": "1"}, is{"x": "1"}},
		"nothing there, none sent":  {nil, nil, nil, nil},
		"nothing there, others are": {is{"x": "1"}, is{"y": "2"}, is{"y": "2"}, is{"y": "2"}},
	} {
		for version, of := range map[string]struct {
			conversion.Annotation

			want is
		}{"v1alpha1": {oldProperties, c.old}, "v1": {properties, c.hub}} {
			base, object := deepCopy(withAnnotations(c.live)), deepCopy(withAnnotations(c.sent))
			of.Preserve(apis.WithinUpdate(t.Context(), base), object)
			if diff := cmp.Diff(of.want, object.Annotations); diff != "" {
				t.Errorf("%s at %s (-want +got):\n%s", reason, version, diff)
			}
			if diff := cmp.Diff(withAnnotations(c.live), base); diff != "" {
				t.Errorf("%s at %s changed the live object (-want +got):\n%s", reason, version, diff)
			}
		}
	}
}

func TestOutsideOfUpdatesOfTheObjectTheAnnotationIsLeftAlone(t *testing.T) {
	base := withAnnotations(map[string]string{annotation: "live"})
	for reason, ctx := range map[string]context.Context{
		"create":                 apis.WithinCreate(t.Context()),
		"reconciler":             t.Context(),
		"status":                 apis.WithinSubResourceUpdate(t.Context(), base, "status"),
		"scale":                  apis.WithinSubResourceUpdate(t.Context(), base, "scale"),
		"conversion":             conversion.WithConverting(apis.WithinUpdate(t.Context(), base)),
		"without a live object":  apis.WithinUpdate(t.Context(), nil),
		"live object is no such": apis.WithinUpdate(t.Context(), "object"),
	} {
		object := withAnnotations(map[string]string{annotation: "sent"})
		properties.Preserve(ctx, object)
		if got := object.Annotations[annotation]; got != "sent" {
			t.Errorf("%s: the annotation is %q", reason, got)
		}
	}
}

func TestAnnotationValidate_TruncatedRepresentation_IsRejected(t *testing.T) {
	hub := &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.HardLimit)}}}
	truncated := shown(t, hub)
	unmarked := deepCopy(truncated)
	unmarked.Labels = nil
	const limits = "the properties of other versions need 65613 bytes, at most 65536 bytes and 1024 properties fit into this annotation, and 262144 bytes into all annotations together; "
	for name, validate := range map[string]func(context.Context) *apis.FieldError{
		"create": func(ctx context.Context) *apis.FieldError {
			return oldProperties.Validate(apis.WithinCreate(ctx), truncated)
		},
		"update": func(ctx context.Context) *apis.FieldError {
			return oldProperties.Validate(apis.WithinUpdate(ctx, truncated), truncated)
		},
		"update without the label": func(ctx context.Context) *apis.FieldError {
			return oldProperties.Validate(apis.WithinUpdate(ctx, truncated), unmarked)
		},
		"status": func(ctx context.Context) *apis.FieldError {
			return oldProperties.Validate(apis.WithinSubResourceUpdate(ctx, truncated, "status"), truncated)
		},
	} {
		const want = "this version cannot represent the object without losing data: metadata.annotations\n" +
			"conversion.example.com/properties: " + limits + "write the object at the stored version"
		if got := validate(t.Context()); got.Filter(apis.ErrorLevel) == nil || got.Error() != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	const want = "v1alpha1 cannot represent the object without losing data: metadata.annotations\n" +
		"conversion.example.com/properties: " + limits + "make the object or its annotations smaller"
	if got := properties.ValidateRepresentation("v1alpha1", truncated); got.Filter(apis.ErrorLevel) == nil || got.Error() != want {
		t.Errorf("at v1: %v", got)
	}
}

// Nothing of the hub is left out, so whoever has given an object the label can take it away again.
func TestAnnotationValidate_LabelRemovedAtHub_IsAccepted(t *testing.T) {
	marked := &widget{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{properties.TruncatedLabel(): "1"}}}
	if got := properties.Validate(apis.WithinUpdate(t.Context(), marked), &widget{}); got != nil {
		t.Errorf("without the label: %v", got)
	}
	if got := properties.Validate(apis.WithinUpdate(t.Context(), &widget{}), marked); got == nil {
		t.Error("with the label: accepted")
	}
}

func TestValidationCountsNothing(t *testing.T) {
	old := annotated(`{"f":1,"c":{"spec":{"e":{"v1/a":{}}}}}`)
	expectCounted(t, "conversion.bag.dropped", "", 0, func() {
		if got := oldProperties.Validate(t.Context(), old).Also(properties.ValidateRepresentation("v1alpha1", old)); got != nil {
			t.Error(got)
		}
	})
}

func TestAnnotationValidateRepresentation_LargeAnnotation_IsWarnedAbout(t *testing.T) {
	hub := &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.SoftLimit)}}}
	got := properties.ValidateRepresentation("v1alpha1", shown(t, hub))
	if got.Filter(apis.ErrorLevel) != nil || got.Filter(apis.WarningLevel) == nil ||
		!strings.HasPrefix(got.Error(), "v1alpha1 needs 16461 bytes for the properties of other versions: metadata.annotations\n") {
		t.Errorf("got %v", got)
	}
	if got := properties.ValidateRepresentation("v1alpha1", shown(t, full())); got != nil {
		t.Errorf("a small representation: %v", got)
	}
}

func TestANewObjectWithAnAnnotationIsWarnedAbout(t *testing.T) {
	old := shown(t, full())
	got := oldProperties.Validate(apis.WithinCreate(t.Context()), old)
	if got.Filter(apis.ErrorLevel) != nil || got.Filter(apis.WarningLevel) == nil {
		t.Errorf("got %v", got)
	}
	for name, got := range map[string]*apis.FieldError{
		"update":                       oldProperties.Validate(apis.WithinUpdate(t.Context(), old), old),
		"without one":                  oldProperties.Validate(apis.WithinCreate(t.Context()), withAnnotations(nil)),
		"malformed":                    oldProperties.Validate(apis.WithinUpdate(t.Context(), old), annotated("{")),
		"in a later format":            oldProperties.Validate(apis.WithinUpdate(t.Context(), old), annotated(`{"f":2}`)),
		"representation of no version": properties.ValidateRepresentation("v1alpha1", withAnnotations(nil)),
	} {
		if got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestOnlyTheMarkedContextIsThatOfAConversion(t *testing.T) {
	if conversion.IsConverting(t.Context()) || !conversion.IsConverting(conversion.WithConverting(t.Context())) {
		t.Error("the mark is not what decides")
	}
}
