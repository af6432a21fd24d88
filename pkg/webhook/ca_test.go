/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/reconciler"
	reconcilertesting "knative.dev/pkg/reconciler/testing"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// The Secret of config/ is empty. An error would be logged and retried until the certificate exists.
func TestControllers_SecretWithoutCA_WaitForIt(t *testing.T) {
	for name, newController := range map[string]injection.ControllerConstructor{
		"defaulting": NewDefaultingController, "validation": NewValidationController, "config": NewConfigValidationController(nil),
		"conversion": NewConversionController,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, _ := reconcilertesting.SetupFakeContext(t)
			ctx = webhook.WithOptions(ctx, webhook.Options{ServiceName: "webhook", SecretName: "certs"})
			impl := newController(ctx, &configmap.ManualWatcher{})
			aware, ok := impl.Reconciler.(reconciler.LeaderAware)
			if !ok {
				t.Fatalf("%T is not leader-aware", impl.Reconciler)
			}
			var key types.NamespacedName
			if err := aware.Promote(reconciler.UniversalBucket(), func(_ reconciler.Bucket, k types.NamespacedName) { key = k }); err != nil {
				t.Fatal(err)
			}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace(), Name: "certs"}}
			secrets := secretinformer.Get(ctx).Informer().GetStore()
			if err := impl.Reconciler.Reconcile(ctx, key.Name); !controller.IsSkipKey(err) {
				t.Errorf("without the Secret: got error %v, want the key to be skipped", err)
			}
			if err := secrets.Add(secret); err != nil {
				t.Fatal(err)
			}
			if err := impl.Reconciler.Reconcile(ctx, key.Name); !controller.IsSkipKey(err) {
				t.Errorf("with an empty Secret: got error %v, want the key to be skipped", err)
			}
			secret.Data = map[string][]byte{certresources.CACert: []byte("CA")}
			if err := impl.Reconciler.Reconcile(ctx, key.Name); err == nil || controller.IsSkipKey(err) {
				t.Errorf("with a CA: got error %v, want one about the configuration that does not exist", err)
			}
		})
	}
}
