/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/conversion"
)

const stashKey = "conversion.samples.knative.dev/properties"

func TestSetDefaults(t *testing.T) {
	type annotations = map[string]string
	object := func(spec AddressableServiceSpec, annotations annotations, finalizers ...string) *AddressableService {
		return &AddressableService{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", Annotations: annotations, Finalizers: finalizers},
			Spec:       spec,
		}
	}
	updateOf := func(old *AddressableService) func(context.Context) context.Context {
		return func(ctx context.Context) context.Context { return apis.WithinUpdate(ctx, old) }
	}
	given, complete := AddressableServiceSpec{Path: "/p"}, AddressableServiceSpec{Path: "/p", Exposure: ExposureInternal}
	ours := annotations{samples.ClassAnnotationKey: samples.ClassMallard}

	for name, test := range map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		in     *AddressableService
		want   *AddressableService
	}{
		"create": {
			reason: "class and finalizer are those that v1 gives, and the exposure is what its absence means",
			ctx:    apis.WithinCreate,
			in:     object(given, nil),
			want:   object(complete, ours, samples.FinalizerName),
		},
		"update with the first manifest": {
			reason: "it has neither the class nor what is stashed, and means neither to change",
			ctx:    updateOf(object(complete, annotations{samples.ClassAnnotationKey: "other", stashKey: "{}"})),
			in:     object(given, nil),
			want:   object(complete, annotations{samples.ClassAnnotationKey: "other", stashKey: "{}"}),
		},
		"update with an old copy": {
			reason: "what has changed since at another version must not come back",
			ctx:    updateOf(object(complete, ours, samples.FinalizerName)),
			in:     object(given, annotations{stashKey: "{}"}),
			want:   object(complete, ours, samples.FinalizerName),
		},
		"update of an object without exposure": {
			reason: "it was created at a version without the field; what else changes must not change that",
			ctx:    updateOf(object(given, ours, samples.FinalizerName)),
			in:     object(given, ours, samples.FinalizerName),
			want:   object(given, ours, samples.FinalizerName),
		},
		"conversion": {
			reason: "what is absent before a conversion is absent after it",
			ctx:    func(ctx context.Context) context.Context { return conversion.WithConverting(apis.WithinCreate(ctx)) },
			in:     object(given, nil),
			want:   object(given, nil),
		},
		"outside of admission": {
			reason: "class and finalizer are decided by admission alone",
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
