/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/webhook"
)

// stopAdmission makes the API server admit all objects that the schema accepts, unchanged. The webhook still converts.
func stopAdmission(t *testing.T, env *harness.Env) {
	t.Helper()
	// Their reconcilers report that they are missing.
	env.ExpectErrors(t, webhook.DefaultingName, webhook.ValidationName)
	configurations := env.Kube.AdmissionregistrationV1()
	if err := configurations.MutatingWebhookConfigurations().Delete(t.Context(), webhook.DefaultingName, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("removing the defaulting: %v", err)
	}
	if err := configurations.ValidatingWebhookConfigurations().Delete(t.Context(), webhook.ValidationName, metav1.DeleteOptions{}); err != nil {
		t.Fatalf("removing the validation: %v", err)
	}
	awaitAdmission(t, env, false)
}

// startAdmission takes stopAdmission back.
func startAdmission(t *testing.T, env *harness.Env) {
	t.Helper()
	env.Kubectl(t, "apply", "-f", "../../config/500-webhook-configuration.yaml")
	awaitAdmission(t, env, true)
}

// awaitAdmission waits until objects of every version are both defaulted and validated, or neither: the API server learns of its webhooks with its own watches.
func awaitAdmission(t *testing.T, env *harness.Env, want bool) {
	t.Helper()
	for _, version := range versions {
		harness.Eventually(t, fmt.Sprintf("it is %t that %s is admitted by the webhook", want, version), func(ctx context.Context) error {
			create := func(changes ...change) (*unstructured.Unstructured, error) {
				return servicesAt(version, env, metav1.NamespaceDefault).Create(ctx, objectAt(version, metav1.NamespaceDefault, changes...),
					metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			}
			defaulted, err := create()
			if err != nil {
				return err
			}
			if got := classOf(defaulted) != ""; got != want {
				return fmt.Errorf("it is %t that objects are defaulted", got)
			}
			_, err = create(classed("Not A Class"))
			if got := err != nil && strings.Contains(err.Error(), "invalid class"); got != want {
				return fmt.Errorf("it is %t that objects are validated: %w", got, err)
			}
			return nil
		})
	}
}
