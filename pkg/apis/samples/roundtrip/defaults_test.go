/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/knative"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// defaultable is an object that admission defaults.
type defaultable interface {
	metav1.Object
	apis.Defaultable
}

// Every version defaults its spec by its own rules, and the metadata by those of v1.
func TestSetDefaults_EachVersion_UsesItsRules(t *testing.T) {
	for version, spec := range map[string]struct{ given, complete string }{
		"v1alpha1": {`{"serviceName":"web"}`, `{"serviceName":"web"}`},
		"v1beta1":  {`{"path":"/p"}`, `{"path":"/p","exposure":"Internal"}`},
		"v1":       {`{"path":"/p"}`, `{"path":"/p","visibility":"ClusterLocal"}`},
	} {
		t.Run(version, func(t *testing.T) { testSetDefaults(t, version, spec.given, spec.complete) })
	}
}

func testSetDefaults(t *testing.T, version, given, complete string) {
	t.Helper()
	type annotations = map[string]string
	object := func(spec string, annotations annotations, finalizers ...string) defaultable {
		as := newObject(t, version).(defaultable)
		decode(t, `{"metadata":{"namespace":"ns","name":"a"},"spec":`+spec+`}`, as)
		as.SetAnnotations(annotations)
		as.SetFinalizers(finalizers)
		return as
	}
	updateOf := func(old defaultable) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}
	ours := annotations{samples.ClassAnnotationKey: samples.ClassMallard}

	for name, test := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     defaultable
		want   defaultable
	}{
		"create": {
			reason: "class and finalizer are those that v1 gives, and what is left out of the spec is what its absence means",
			ctx:    apis.WithinCreate,
			in:     object(given, nil),
			want:   object(complete, ours, samples.FinalizerName),
		},
		"update with the first manifest": {
			reason: "it has neither the class nor what is stashed, and means neither to change",
			ctx:    updateOf(object(complete, annotations{samples.ClassAnnotationKey: "other", annotation: "{}"})),
			in:     object(given, nil),
			want:   object(complete, annotations{samples.ClassAnnotationKey: "other", annotation: "{}"}),
		},
		"update with an old copy": {
			reason: "later changes at another version must not be reverted",
			ctx:    updateOf(object(complete, ours, samples.FinalizerName)),
			in:     object(given, annotations{annotation: "{}"}),
			want:   object(complete, ours, samples.FinalizerName),
		},
		"update of an object that is not complete": {
			reason: "it was created at a version without the field; what else changes must not change that",
			ctx:    updateOf(object(given, ours, samples.FinalizerName)),
			in:     object(given, ours, samples.FinalizerName),
			want:   object(given, ours, samples.FinalizerName),
		},
		"conversion": {
			reason: "what is absent before a conversion is absent after it",
			ctx:    knative.WithConverting,
			in:     object(given, nil),
			want:   object(given, nil),
		},
		"outside of admission": {
			reason: "admission alone defaults an object",
			ctx:    func(ctx context.Context) context.Context { return ctx },
			in:     object(given, nil),
			want:   object(given, nil),
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.in.SetDefaults(test.ctx(t.Context()))
			if diff := cmp.Diff(test.want, test.in); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", test.reason, diff)
			}
		})
	}
}
