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
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/conversion"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

func served(ctx context.Context) context.Context {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(v1alpha1.Install(scheme), v1beta1.Install(scheme), v1.Install(scheme)))
	return v1.WithVersions(scheme)(ctx)
}

// sized is an object that an older version has to stash about so many bytes of.
func sized(bytes int) *v1.AddressableService {
	caCerts := strings.Repeat("x", bytes)
	return &v1.AddressableService{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"},
		Spec:       v1.AddressableServiceSpec{Ref: v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "web"}},
		Status:     v1.AddressableServiceStatus{AddressStatus: duckv1.AddressStatus{Addresses: []duckv1.Addressable{{CACerts: &caCerts}}}},
	}
}

func TestValidate_FieldsThatAnOlderVersionCannotShow_AreRejected(t *testing.T) {
	updateOf := func(old *v1.AddressableService) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}
	changed := sized(conversion.HardLimit)
	changed.Spec.Ref.Name = "other"
	for name, test := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     *v1.AddressableService
		// wantErrors and wantWarnings are parts of the messages.
		wantErrors, wantWarnings []string
	}{
		"small": {ctx: apis.WithinCreate, in: sized(100)},
		"large": {
			reason: "it can be shown, and much more cannot be added",
			ctx:    apis.WithinCreate, in: sized(conversion.SoftLimit),
			wantWarnings: []string{"v1alpha1 needs 16", "v1beta1 needs 16", "at most 65536 bytes"},
		},
		"too large": {
			reason: "the client that writes the object gets the error, rather than the one that reads it",
			ctx:    apis.WithinCreate, in: sized(conversion.HardLimit),
			wantErrors: []string{"v1alpha1 cannot represent the object", "v1beta1 cannot represent the object", "other versions need 65", "at most 65536 bytes", "metadata.annotations"},
		},
		"too large by an update": {
			ctx: updateOf(sized(100)), in: sized(conversion.HardLimit),
			wantErrors: []string{"v1alpha1", "v1beta1"},
		},
		"too large before the update": {
			reason: "what was accepted once must not block a later update",
			ctx:    updateOf(sized(conversion.HardLimit)), in: changed,
		},
		"status update": {
			reason: "a status has to be reported whatever its size",
			ctx: func(ctx context.Context) context.Context {
				return apis.WithinSubResourceUpdate(ctx, sized(100), "status")
			}, in: sized(conversion.HardLimit),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := test.in.Validate(served(test.ctx(t.Context())))
			expectParts(t, test.reason, got.Filter(apis.ErrorLevel), test.wantErrors)
			expectParts(t, test.reason, got.Filter(apis.WarningLevel), test.wantWarnings)
			if err := test.in.Validate(test.ctx(t.Context())); err != nil {
				t.Errorf("no older version is served, and yet: %v", err)
			}
		})
	}
}

func expectParts(t *testing.T, reason string, got *apis.FieldError, parts []string) {
	t.Helper()
	if len(parts) == 0 {
		if got != nil {
			t.Errorf("%s\ngot %v", reason, got)
		}
		return
	}
	for _, part := range parts {
		if got == nil || !strings.Contains(got.Error(), part) {
			t.Errorf("%s\n%v lacks %q", reason, got, part)
		}
	}
}

// A version is a way to write v1, and no way round its rules: a representation is validated as it would be stored.
func TestValidate_OlderVersions_FollowTheRulesOfV1(t *testing.T) {
	target := &v1.AddressableService{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
	target.Spec.Ref = v1.TargetReference{APIVersion: "v1", Kind: "Service", Name: "web"}
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
					got := of.bad.Validate(served(ctx)).Filter(apis.ErrorLevel)
					if (test.want == "") != (got == nil) || (got != nil && !strings.Contains(got.Error(), test.want)) {
						t.Errorf("%s: got %v, want %q", event, got, test.want)
					}
				}
				if got := of.bad.Validate(served(apis.WithinSubResourceUpdate(t.Context(), of.good, "status"))); got != nil {
					t.Errorf("status update: %v", got)
				}
				of.bad.SetDeletionTimestamp(&metav1.Time{})
				if got := of.bad.Validate(served(apis.WithinUpdate(t.Context(), of.good))); got != nil {
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
		got := validate(served(apis.WithinCreate(t.Context())), copied).Filter(apis.WarningLevel)
		expectParts(t, version+": an annotation of a new object", got, []string{"it belongs to the object that this manifest was copied from"})
		truncated := metav1.ObjectMeta{Labels: map[string]string{"conversion.samples.knative.dev/properties-truncated": "70000"}}
		got = validate(served(apis.WithinCreate(t.Context())), truncated).Filter(apis.ErrorLevel)
		expectParts(t, version+": a truncated object", got, []string{"this version cannot represent the object without losing data"})
	}
}

// A client of an older version that leaves the label out still has a representation without its annotation.
func TestValidate_TruncatedLiveObject_IsRejectedAtOlderVersions(t *testing.T) {
	target := sized(1)
	target.Status = v1.AddressableServiceStatus{}
	for version, as := range map[string]v1.Representation{"v1alpha1": &v1alpha1.AddressableService{}, "v1beta1": &v1beta1.AddressableService{}} {
		convert(t, target, as)
		live := as.(runtime.Object).DeepCopyObject().(v1.Representation)
		live.SetLabels(map[string]string{"conversion.samples.knative.dev/properties-truncated": "70000"})
		for event, ctx := range map[string]context.Context{
			"update": apis.WithinUpdate(t.Context(), live), "status": apis.WithinSubResourceUpdate(t.Context(), live, "status"),
		} {
			got := as.(apis.Validatable).Validate(served(ctx)).Filter(apis.ErrorLevel)
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
	got = v1.ValidateConverted(ctx, sized(1), "spec.ref")
	if got == nil || !strings.Contains(got.Error(), "converting the live object to v1: no") {
		t.Errorf("got %v", got)
	}
}

type unconvertible struct{ metav1.ObjectMeta }

func (unconvertible) ConvertTo(context.Context, apis.Convertible) error { return errors.New("no") }

func (unconvertible) ConvertFrom(context.Context, apis.Convertible) error { return errors.New("no") }
