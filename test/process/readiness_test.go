//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestController_CachesSynced_BecomesReady(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("controller"), harness.WithProxy("controller"))
	controller := newProbed(t, env, "controller")
	resources := []string{"pods", "services"}
	for _, crd := range fixtures.CRDs(t, env) {
		resources = append(resources, crd.Spec.Names.Plural)
	}
	for _, resource := range resources {
		held := env.Proxy(t, "controller").Hold(harness.Matching("*", resource))
		started := controller.start(t)
		held.Wait(t)
		controller.awaitUnready(t, "the caches are not filled yet")
		held.Release()
		started()
		controller.awaitReady(t)
		controller.Stop(t)
	}
}

// A rollout then keeps the Pods that can still lead.
func TestController_RoleWithoutLeases_IsNotReadyAndSaysWhy(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("controller"))
	env.ExpectErrors(t, "retrieving lease lock", "retrieving resource lock")
	controller := newProbed(t, env, "controller")
	roles := env.Kube.RbacV1().Roles(env.SystemNamespace)
	role, err := roles.Get(t.Context(), "controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	complete := role.Rules
	role.Rules = slices.DeleteFunc(slices.Clone(complete), func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "leases") })
	if role, err = roles.Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	started := controller.start(t)
	controller.awaitUnready(t, "no lease has been read yet")
	harness.Eventually(t, "the log says why", func(context.Context) error {
		if log := controller.Log(t); !strings.Contains(log, `leases.coordination.k8s.io`) || !strings.Contains(log, "is forbidden") {
			return errors.New("it does not")
		}
		return nil
	})
	role.Rules = complete
	if _, err := roles.Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	started()
	controller.awaitReady(t)
}

const crdName = "addressableservices.samples.knative.dev"

func TestWebhook_TrustedByTheAPIServer_BecomesReady(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.Without("webhook"), harness.WithProxy("webhook"))
	env.ExpectErrors(t, "ca-cert.pem", "503 ServiceUnavailable") // the write of the Secret fails at first
	process := newProbed(t, env, "webhook")
	admission := env.Kube.AdmissionregistrationV1()
	validation := func(name string) func(context.Context) (bool, error) {
		return func(ctx context.Context) (bool, error) {
			c, err := admission.ValidatingWebhookConfigurations().Get(ctx, name, metav1.GetOptions{})
			return err == nil && len(c.Webhooks[0].ClientConfig.CABundle) > 0, err
		}
	}
	// The objects that a first start has to write. Each fails until the previous ones exist, so that each is reported as missing once.
	writes := []struct {
		resource, name string
		undo           func()
		written        func(context.Context) (bool, error)
	}{
		{resource: "secrets", name: "webhook-certs", written: func(ctx context.Context) (bool, error) {
			secret, err := env.Kube.CoreV1().Secrets(env.SystemNamespace).Get(ctx, "webhook-certs", metav1.GetOptions{})
			return err == nil && len(secret.Data) > 0, err
		}},
		{resource: "mutatingwebhookconfigurations", name: webhook.DefaultingName, written: func(ctx context.Context) (bool, error) {
			c, err := admission.MutatingWebhookConfigurations().Get(ctx, webhook.DefaultingName, metav1.GetOptions{})
			return err == nil && len(c.Webhooks[0].ClientConfig.CABundle) > 0, err
		}},
		{resource: "mutatingwebhookconfigurations", name: binding.WebhookName, written: func(ctx context.Context) (bool, error) {
			c, err := admission.MutatingWebhookConfigurations().Get(ctx, binding.WebhookName, metav1.GetOptions{})
			return err == nil && len(c.Webhooks[0].ClientConfig.CABundle) > 0, err
		}},
		{resource: "validatingwebhookconfigurations", name: webhook.ValidationName, written: validation(webhook.ValidationName)},
		{resource: "validatingwebhookconfigurations", name: webhook.ConfigValidationName, written: validation(webhook.ConfigValidationName)},
		{resource: "customresourcedefinitions", name: crdName, written: func(ctx context.Context) (bool, error) {
			crd, err := env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, crdName, metav1.GetOptions{})
			return err == nil && len(crd.Spec.Conversion.Webhook.ClientConfig.CABundle) > 0, err
		}},
	}
	for i, w := range writes {
		writes[i].undo = env.Proxy(t, "webhook").Fail(update(w.resource, w.name), http.StatusServiceUnavailable)
	}
	started := process.start(t)
	for _, w := range writes {
		process.awaitUnready(t, "webhook") // the Secret webhook-certs, or the first webhook that does not trust it
		w.undo()
		harness.Eventually(t, w.name+" is written", func(ctx context.Context) error {
			written, err := w.written(ctx)
			if err == nil && !written {
				err = errors.New("it is as it was applied")
			}
			return err
		})
	}
	started()
	process.awaitReady(t)
}

// update matches the update of one object.
func update(resource, name string) harness.Match {
	return harness.Matching("update", resource).And(func(r harness.Request) bool { return r.Name == name })
}
