/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/webhook"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// A kind whose schema says everything can be written while no webhook runs.
func TestAdmitted_KindWithoutRulesOfItsOwn_IsLeftOut(t *testing.T) {
	want := map[schema.GroupVersionKind]bool{
		v1.SchemeGroupVersion.WithKind("AddressBinding"):           true,
		v1.SchemeGroupVersion.WithKind("AddressableService"):       true,
		v1beta1.SchemeGroupVersion.WithKind("AddressableService"):  true,
		v1alpha1.SchemeGroupVersion.WithKind("AddressableService"): true,
	}
	if diff := cmp.Diff(want, admitted[apis.Defaultable](served, true)); diff != "" {
		t.Errorf("defaulting (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, admitted[apis.Validatable](served, true)); diff != "" {
		t.Errorf("validation (-want +got):\n%s", diff)
	}
}

// The API server sends such a kind if an earlier release, which had rules for it, wrote the webhook configuration.
func TestKindWithoutRulesOfItsOwn_IsAdmittedUnchanged(t *testing.T) {
	kind := kindOf("v1alpha1", "SimpleDeployment")
	expectDefaulted(t, newDefaulting(t), kind, `{"spec":{}}`, `{"spec":{}}`)

	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	if response := admit(t, NewValidationController(ctx, nil), kind, `{}`); !response.Allowed {
		t.Errorf("rejected: %v", response.Result)
	}
}
