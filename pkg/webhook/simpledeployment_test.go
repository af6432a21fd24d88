/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"testing"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/configmap"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/webhook"
)

// A kind whose schema has every rule can be written while no webhook runs.
func TestAdmitted_KindWithoutRulesOfItsOwn_IsLeftOut(t *testing.T) {
	for groupKind, kind := range served {
		for version := range kind.versions {
			gvk, want := groupKind.WithVersion(version), groupKind.Kind != "SimpleDeployment"
			if got := admitted[apis.Defaultable](served, true)[gvk]; got != want {
				t.Errorf("%s is sent to the defaulting webhook: %t, want %t", gvk, got, want)
			}
			if got := admitted[apis.Validatable](served, true)[gvk]; got != want {
				t.Errorf("%s is sent to the validating webhook: %t, want %t", gvk, got, want)
			}
		}
	}
}

// The API server sends such a kind if an earlier release, which had rules for it, wrote the webhook configuration.
func TestKindWithoutRulesOfItsOwn_IsAdmittedUnchanged(t *testing.T) {
	kind := kindOf("v1alpha1", "SimpleDeployment")
	ctx, _ := reconcilertesting.SetupFakeContext(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{SecretName: "webhook-certs"})
	expectDefaulted(t, NewDefaultingController(ctx, &configmap.ManualWatcher{}), kind, `{"spec":{}}`, `{"spec":{}}`)
	if response := admit(t, NewValidationController(ctx, nil), kind, `{}`); !response.Allowed {
		t.Errorf("rejected: %v", response.Result)
	}
}
