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

	"github.com/mallard-dev/mallard/pkg/conversion"
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

func TestWritingThroughAViewThatLacksSomethingIsRefused(t *testing.T) {
	hub := &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.HardLimit)}}}
	old := shown(t, hub)
	for name, ctx := range map[string]context.Context{"create": apis.WithinCreate(t.Context()), "update": apis.WithinUpdate(t.Context(), old)} {
		const want = "this version cannot show the object without losing properties of others: " +
			"metadata.annotations\n" +
			"conversion.example.com/properties: it would need 65613 bytes, at most 65536 are possible; use the version that the object was written at"
		if got := oldProperties.Validate(ctx, old); got.Filter(apis.ErrorLevel) == nil || got.Error() != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	const want = "the v1alpha1 view would need 65613 bytes (limit 65536): metadata.annotations\n" +
		"conversion.example.com/properties: v1alpha1 cannot show the object without losing properties; make it smaller"
	if got := properties.ValidateView("v1alpha1", old); got.Filter(apis.ErrorLevel) == nil || got.Error() != want {
		t.Errorf("at v1: %v", got)
	}
	// A marker that was tampered with is one all the same.
	for _, text := range []string{`{"f":1,"t":true}`, `{"f":1,"t":-5}`, `{"t":{},"f":1}`} {
		if got := oldProperties.Validate(t.Context(), annotated(text)); got == nil {
			t.Errorf("%s is not refused", text)
		}
	}
}

func TestValidationCountsNothing(t *testing.T) {
	old := annotated(`{"f":1,"c":{"spec":{"e":{"v1/a":{}}}}}`)
	expectCounted(t, "conversion.bag.dropped", "", 0, func() {
		if got := oldProperties.Validate(t.Context(), old).Also(properties.ValidateView("v1alpha1", old)); got != nil {
			t.Error(got)
		}
	})
}

func TestALargeViewIsWarnedAbout(t *testing.T) {
	hub := &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.SoftLimit)}}}
	got := properties.ValidateView("v1alpha1", shown(t, hub))
	if got.Filter(apis.ErrorLevel) != nil || got.Filter(apis.WarningLevel) == nil ||
		!strings.HasPrefix(got.Error(), "the v1alpha1 view needs 16461 bytes (limit 65536): metadata.annotations\n") {
		t.Errorf("got %v", got)
	}
	if got := properties.ValidateView("v1alpha1", shown(t, full())); got != nil {
		t.Errorf("a small view: %v", got)
	}
}

func TestANewObjectWithAnAnnotationIsWarnedAbout(t *testing.T) {
	old := shown(t, full())
	got := oldProperties.Validate(apis.WithinCreate(t.Context()), old)
	if got.Filter(apis.ErrorLevel) != nil || got.Filter(apis.WarningLevel) == nil {
		t.Errorf("got %v", got)
	}
	for name, got := range map[string]*apis.FieldError{
		"update":             oldProperties.Validate(apis.WithinUpdate(t.Context(), old), old),
		"without one":        oldProperties.Validate(apis.WithinCreate(t.Context()), withAnnotations(nil)),
		"malformed":          oldProperties.Validate(apis.WithinUpdate(t.Context(), old), annotated("{")),
		"in a later format":  oldProperties.Validate(apis.WithinUpdate(t.Context(), old), annotated(`{"f":2,"t":1}`)),
		"view of no version": properties.ValidateView("v1alpha1", withAnnotations(nil)),
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
