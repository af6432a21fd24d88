/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/webhook"
)

// registering stands for a reconciler of knative.dev/pkg, whose Admit is not called.
type registering struct {
	webhook.AdmissionController
	reconciler.LeaderAwareFuncs
}

func (*registering) Reconcile(context.Context, string) error { return nil }

// object is valid if it is as large as the context allows.
type object struct {
	metav1.ObjectMeta `json:"metadata"`
}

type largestKey struct{}

func (o *object) Validate(ctx context.Context) *apis.FieldError {
	if largest, ok := ctx.Value(largestKey{}).(int); ok && len(o.Name) > largest {
		return apis.ErrInvalidValue(o.Name, "metadata.name")
	}
	return nil
}

func TestValidate_ContextOfARequest_IsOptional(t *testing.T) {
	for name, tc := range map[string]struct {
		withContext func(context.Context) context.Context
		want        bool
	}{
		"none":          {nil, true},
		"configuration": {func(ctx context.Context) context.Context { return context.WithValue(ctx, largestKey{}, 1) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			impl := Validate(&controller.Impl{Reconciler: &registering{}}, func(schema.GroupVersionKind) any { return &object{} }, tc.withContext)
			response := impl.Reconciler.(webhook.AdmissionController).Admit(t.Context(), &admissionv1.AdmissionRequest{
				Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(`{"metadata": {"name": "long"}}`)},
			})
			if response.Allowed != tc.want {
				t.Errorf("got %+v, want it to be allowed: %t", response, tc.want)
			}
		})
	}
}
