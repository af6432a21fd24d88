/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

func withAnnotations(annotations map[string]string) *oldWidget {
	return &oldWidget{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
}

func TestAdmission_Update_LiveAnnotationWins(t *testing.T) {
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
			of.Preserve(object, base)
			if diff := cmp.Diff(of.want, object.Annotations); diff != "" {
				t.Errorf("%s at %s (-want +got):\n%s", reason, version, diff)
			}
			if diff := cmp.Diff(withAnnotations(c.live), base); diff != "" {
				t.Errorf("%s at %s changed the live object (-want +got):\n%s", reason, version, diff)
			}
		}
	}
}

func TestAnnotationPreserve_NoLiveObject_AnnotationIsLeftAlone(t *testing.T) {
	object := withAnnotations(map[string]string{annotation: "sent"})
	properties.Preserve(object, nil)
	if got := object.Annotations[annotation]; got != "sent" {
		t.Errorf("the annotation is %q", got)
	}
}

const limits = "at most 65536 bytes and 1024 properties fit into this annotation, nested at most 32 levels deep, and 262144 bytes into all " +
	"annotations together"

func finding(message, details string, warning bool) []conversion.Finding {
	return []conversion.Finding{{Field: "metadata.annotations", Message: message, Details: annotation + ": " + details, Warning: warning}}
}

func expectFindings(t *testing.T, reason string, got, want []conversion.Finding) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

func TestAnnotationValidate_TruncatedRepresentation_IsRejected(t *testing.T) {
	truncated := shown(t, &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.HardLimit)}}})
	unmarked := deepCopy(truncated)
	unmarked.Labels = nil
	const need = "the properties of other versions need 65613 bytes, " + limits
	want := finding("this version cannot represent the object without losing data", need+"; write the object at the stored version", false)
	expectFindings(t, "create", oldProperties.Validate(truncated, nil), want)
	expectFindings(t, "update", oldProperties.Validate(truncated, truncated), want)
	expectFindings(t, "update without the label", oldProperties.Validate(unmarked, truncated), want)
	expectFindings(t, "at v1", properties.ValidateRepresentation("v1alpha1", truncated),
		finding("v1alpha1 cannot represent the object without losing data", need+"; make the object or its annotations smaller, or nest its values less deep", false))
}

// The hub shows everything, so a client that has set the label can remove it again.
func TestAnnotationValidate_LabelRemovedAtHub_IsAccepted(t *testing.T) {
	marked := &widget{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{properties.TruncatedLabel(): "1"}}}
	expectFindings(t, "without the label", properties.Validate(&widget{}, marked), nil)
	if got := properties.Validate(marked, &widget{}); got == nil {
		t.Error("with the label: accepted")
	}
}

func TestAdmission_Validation_CountsNothing(t *testing.T) {
	old := annotated(`{"f":1,"c":{"spec":{"e":{"v1/a":{}}}}}`)
	expectCounted(t, "conversion.bag.dropped", "", 0, func() {
		expectFindings(t, "at v1alpha1", oldProperties.Validate(old, old), nil)
		expectFindings(t, "at v1", properties.ValidateRepresentation("v1alpha1", old), nil)
	})
}

func TestAnnotationValidateRepresentation_LargeAnnotation_IsWarnedAbout(t *testing.T) {
	large := shown(t, &widget{Spec: widgetSpec{Probe: &probe{Path: strings.Repeat("x", conversion.SoftLimit)}}})
	expectFindings(t, "large", properties.ValidateRepresentation("v1alpha1", large),
		finding("v1alpha1 needs 16461 bytes for the properties of other versions", limits+"; an object that needs more is rejected", true))
	expectFindings(t, "small", properties.ValidateRepresentation("v1alpha1", shown(t, full())), nil)
}

func TestAdmission_NewObjectWithAnnotation_Warns(t *testing.T) {
	old := shown(t, full())
	expectFindings(t, "create", oldProperties.Validate(old, nil), finding("the annotation sets properties of other versions",
		"it belongs to the object that this manifest was copied from; leave it out to begin without them", true))
	for name, got := range map[string][]conversion.Finding{
		"update":                       oldProperties.Validate(old, old),
		"without one":                  oldProperties.Validate(withAnnotations(nil), nil),
		"malformed":                    oldProperties.Validate(annotated("{"), old),
		"in a later format":            oldProperties.Validate(annotated(`{"f":2}`), old),
		"representation of no version": properties.ValidateRepresentation("v1alpha1", withAnnotations(nil)),
	} {
		expectFindings(t, name, got, nil)
	}
}
