/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/pkg/telemetry"
)

// WithCertificateExpiry wraps one of the constructors, whichever, as WithReadiness does.
// The process then tells by a metric until when its serving certificate is valid.
func WithCertificateExpiry(ctor injection.ControllerConstructor) injection.ControllerConstructor {
	return func(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
		secrets, name := secretinformer.Get(ctx).Lister().Secrets(system.Namespace()), webhook.GetOptions(ctx).SecretName
		if err := telemetry.ObserveCertificate(func() (time.Time, error) { return notAfter(secrets, name) }); err != nil {
			logging.FromContext(ctx).Fatalw("Setting up the metric of the certificate failed", "error", err)
		}
		return ctor(ctx, cmw)
	}
}

// notAfter is until when the certificate in a secret is valid.
func notAfter(secrets corev1listers.SecretNamespaceLister, name string) (time.Time, error) {
	secret, err := secrets.Get(name)
	if apierrors.IsNotFound(err) || err == nil && len(secret.Data[certresources.ServerCert]) == 0 {
		// The certificate is made by whichever replica leads.
		return time.Time{}, telemetry.ErrUnknown
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the secret of the certificate: %w", err)
	}
	block, _ := pem.Decode(secret.Data[certresources.ServerCert])
	if block == nil {
		return time.Time{}, fmt.Errorf("secret %s: %s is not PEM", name, certresources.ServerCert)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}, fmt.Errorf("secret %s: %s: %w", name, certresources.ServerCert, err)
	}
	return certificate.NotAfter, nil
}
