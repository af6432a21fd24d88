/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

func service() *v1.AddressableService {
	return &v1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"},
		Spec:       v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "web"}},
	}
}

func expectParts(t *testing.T, reason string, got *apis.FieldError, parts []string) {
	t.Helper()
	for _, part := range parts {
		if got == nil || !strings.Contains(got.Error(), part) {
			t.Errorf("%s\n%v lacks %q", reason, got, part)
		}
	}
}

// A version is a way to write v1, and no way round its rules: a representation is validated as it would be stored.
func TestValidate_OlderVersions_FollowTheRulesOfV1(t *testing.T) {
	target := service()
	for name, test := range map[string]struct {
		edit func(*v1.AddressableService)
		want string
	}{
		"nothing wrong": {func(*v1.AddressableService) {}, ""},
		"a port that is too big": {func(as *v1.AddressableService) {
			as.Spec.Ports = []v1.AddressPort{{Name: "a"}, {Name: "b", Port: 99999}}
		}, "spec.ports[1].port"},
		"an alias that is no name": {func(as *v1.AddressableService) { as.Spec.Publish = &v1.Publication{Alias: "?"} }, "spec.publish.alias"},
		"a path that leads up":     {func(as *v1.AddressableService) { as.Spec.Path = new("/../b") }, "spec.path"},
		"itself as its target": {func(as *v1.AddressableService) {
			as.Spec.Ref = v1.TargetReference{APIVersion: "samples.knative.dev/v1", Kind: "AddressableService", Name: "a"}
		}, "cannot refer to itself: spec.ref.name"},
		"a class that is no name": {func(as *v1.AddressableService) {
			as.Annotations = map[string]string{"samples.knative.dev/addressableservice.class": "?"}
		}, "invalid class"},
	} {
		bad := target.DeepCopy()
		test.edit(bad)
		for version, of := range map[string]struct {
			good, bad interface {
				v1.Representation
				apis.Validatable
			}
		}{
			"v1alpha1": {&v1alpha1.AddressableService{}, &v1alpha1.AddressableService{}},
			"v1beta1":  {&v1beta1.AddressableService{}, &v1beta1.AddressableService{}},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				convert(t, target, of.good)
				convert(t, bad, of.bad)
				for event, ctx := range map[string]context.Context{
					"create": apis.WithinCreate(t.Context()),
					"update": apis.WithinUpdate(t.Context(), of.good),
				} {
					got := of.bad.Validate(ctx).Filter(apis.ErrorLevel)
					if (test.want == "") != (got == nil) || (got != nil && !strings.Contains(got.Error(), test.want)) {
						t.Errorf("%s: got %v, want %q", event, got, test.want)
					}
				}
				if got := of.bad.Validate(apis.WithinSubResourceUpdate(t.Context(), of.good, "status")); got != nil {
					t.Errorf("status update: %v", got)
				}
				of.bad.SetDeletionTimestamp(&metav1.Time{})
				if got := of.bad.Validate(apis.WithinUpdate(t.Context(), of.good)); got != nil {
					t.Errorf("being deleted: %v", got)
				}
			})
		}
	}
}

// Every version warns about an annotation of a new object, and rejects what it cannot represent.
func TestValidate_EachVersion_ValidatesItsAnnotation(t *testing.T) {
	for version, validate := range map[string]func(context.Context, metav1.ObjectMeta) *apis.FieldError{
		"v1alpha1": func(ctx context.Context, meta metav1.ObjectMeta) *apis.FieldError {
			return (&v1alpha1.AddressableService{ObjectMeta: meta}).Validate(ctx)
		},
		"v1beta1": func(ctx context.Context, meta metav1.ObjectMeta) *apis.FieldError {
			return (&v1beta1.AddressableService{ObjectMeta: meta}).Validate(ctx)
		},
		"v1": func(ctx context.Context, meta metav1.ObjectMeta) *apis.FieldError {
			return (&v1.AddressableService{ObjectMeta: meta}).Validate(ctx)
		},
	} {
		copied := metav1.ObjectMeta{Annotations: map[string]string{"conversion.samples.knative.dev/properties": "{}"}}
		got := validate(apis.WithinCreate(t.Context()), copied).Filter(apis.WarningLevel)
		expectParts(t, version+": an annotation of a new object", got, []string{"it belongs to the object that this manifest was copied from"})
		truncated := metav1.ObjectMeta{Labels: map[string]string{"conversion.samples.knative.dev/properties-truncated": "70000"}}
		got = validate(apis.WithinCreate(t.Context()), truncated).Filter(apis.ErrorLevel)
		expectParts(t, version+": a truncated object", got, []string{"this version cannot represent the object without losing data"})
	}
}

// A client of an older version that leaves the label out still has a representation without its annotation.
func TestValidate_TruncatedLiveObject_IsRejectedAtOlderVersions(t *testing.T) {
	target := service()
	for version, as := range map[string]v1.Representation{"v1alpha1": &v1alpha1.AddressableService{}, "v1beta1": &v1beta1.AddressableService{}} {
		convert(t, target, as)
		live := as.(runtime.Object).DeepCopyObject().(v1.Representation)
		live.SetLabels(map[string]string{"conversion.samples.knative.dev/properties-truncated": "70000"})
		for event, ctx := range map[string]context.Context{
			"update": apis.WithinUpdate(t.Context(), live), "status": apis.WithinSubResourceUpdate(t.Context(), live, "status"),
		} {
			got := as.(apis.Validatable).Validate(ctx).Filter(apis.ErrorLevel)
			expectParts(t, version+" "+event, got, []string{"this version cannot represent the object without losing data"})
		}
	}
}

func convert(t *testing.T, from, to apis.Convertible) {
	t.Helper()
	if err := from.ConvertTo(t.Context(), to); err != nil {
		t.Fatal(err)
	}
}

// An object that is no AddressableService returns an error and does not panic.
func TestValidate_ObjectThatCannotBeConverted_ReturnsError(t *testing.T) {
	got := v1.ValidateConverted(t.Context(), &unconvertible{}, "spec.ref")
	if got == nil || !strings.Contains(got.Error(), "converting to v1: no") {
		t.Errorf("got %v", got)
	}
	ctx := apis.WithinUpdate(t.Context(), &unconvertible{})
	got = v1.ValidateConverted(ctx, service(), "spec.ref")
	if got == nil || !strings.Contains(got.Error(), "converting the live object to v1: no") {
		t.Errorf("got %v", got)
	}
}

type unconvertible struct{ metav1.ObjectMeta }

func (unconvertible) ConvertTo(context.Context, apis.Convertible) error { return errors.New("no") }

func (unconvertible) ConvertFrom(context.Context, apis.Convertible) error { return errors.New("no") }
