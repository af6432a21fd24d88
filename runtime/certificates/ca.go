/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"

	corev1listers "k8s.io/client-go/listers/core/v1"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// CA returns the CA of the serving certificate. It exists once the Secret has been filled, of which an event follows.
func CA(ctx context.Context, secrets corev1listers.SecretNamespaceLister, name string) (ca []byte, ok bool) {
	if secret, err := secrets.Get(name); err == nil {
		ca = secret.Data[certresources.CACert]
	}
	if len(ca) == 0 {
		logging.FromContext(ctx).Infow("There is no CA yet", "secret", name)
	}
	return ca, len(ca) > 0
}

// waiting is a reconciler of knative.dev/pkg that copies the CA. Without one it would fail.
type waiting struct {
	controller.Reconciler
	reconciler.LeaderAware

	secrets corev1listers.SecretNamespaceLister
	name    string
}

// Reconcile implements controller.Reconciler.
func (w *waiting) Reconcile(ctx context.Context, key string) error {
	if _, ok := CA(ctx, w.secrets, w.name); !ok {
		return controller.NewSkipKey(key)
	}
	return w.Reconciler.Reconcile(ctx, key)
}

// Await lets a controller of knative.dev/pkg for webhooks reconcile as soon as there is a CA.
func Await(ctx context.Context, secrets corev1listers.SecretLister, impl *controller.Impl) *controller.Impl {
	aware, _ := impl.Reconciler.(reconciler.LeaderAware) // as all are
	w := &waiting{impl.Reconciler, aware, secrets.Secrets(system.Namespace()), webhook.GetOptions(ctx).SecretName}
	switch serving := impl.Reconciler.(type) {
	case webhook.AdmissionController:
		impl.Reconciler = struct {
			*waiting
			webhook.AdmissionController
		}{w, serving}
	case webhook.ConversionController:
		impl.Reconciler = struct {
			*waiting
			webhook.ConversionController
		}{w, serving}
	}
	return impl
}
