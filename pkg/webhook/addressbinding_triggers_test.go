/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fakediscovery "k8s.io/client-go/discovery/fake"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"

	"github.com/mallard-dev/mallard/pkg/binding"
	samplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/client/fake"
	_ "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding/fake"
)

// Each relevant change is delivered by a separate informer.
func TestBindingController_FollowsInformers(t *testing.T) {
	ctx, cancel, informers := reconcilertesting.SetupFakeContextWithCancel(t)
	ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
	kubeclient.Get(ctx).Discovery().(*fakediscovery.FakeDiscovery).Resources = []*metav1.APIResourceList{{GroupVersion: "v1"}}
	impl := NewBindingController(ctx, nil)
	stopped, err := reconcilertesting.RunAndSyncInformers(ctx, informers...)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- impl.RunContext(ctx, 1) }()
	t.Cleanup(func() {
		cancel()
		stopped()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	aware, ok := impl.Reconciler.(reconciler.LeaderAware)
	if !ok {
		t.Fatalf("%T is not leader-aware", impl.Reconciler)
	}
	if err := aware.Promote(reconciler.UniversalBucket(), impl.MaybeEnqueueBucketKey); err != nil {
		t.Fatal(err)
	}

	create := metav1.CreateOptions{}
	secrets := kubeclient.Get(ctx).CoreV1().Secrets(system.Namespace())
	bindings := samplesclient.Get(ctx).SamplesV1().AddressBindings("ns")
	configurations := kubeclient.Get(ctx).AdmissionregistrationV1().MutatingWebhookConfigurations()
	expect := func(what, ca string, rules ...string) {
		t.Helper()
		eventually(t, what, func() bool {
			got, err := configurations.Get(context.WithoutCancel(ctx), binding.WebhookName, metav1.GetOptions{})
			return err == nil && string(got.Webhooks[0].ClientConfig.CABundle) == ca && slices.Equal(rulesOf(got.Webhooks[0]), rules)
		})
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	do(createErr(configurations.Create(ctx, bindingConfiguration(), create)))
	secret := certificateSecret("first")
	secret.Namespace = system.Namespace()
	do(createErr(secrets.Create(ctx, secret, create)))
	expect("no rules without bindings", "first")
	do(createErr(bindings.Create(ctx, bindingTo("example.com/v1", "Radius"), create)))
	expect("a rule for a recorded kind", "first", "example.com/v1/radii")
	secret.Data = certificateSecret("second").Data
	do(createErr(secrets.Update(ctx, secret, metav1.UpdateOptions{})))
	expect("the new CA", "second", "example.com/v1/radii")
	do(configurations.Delete(ctx, binding.WebhookName, metav1.DeleteOptions{}))
	do(createErr(configurations.Create(ctx, bindingConfiguration(), create)))
	expect("the configuration is filled again", "second", "example.com/v1/radii")
	do(bindings.Delete(ctx, "to-Radius", metav1.DeleteOptions{}))
	expect("no rule without bindings", "second")
}
