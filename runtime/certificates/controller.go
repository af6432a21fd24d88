/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/runtime/process"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// certificates keeps the secret of the serving certificate. It stands in for
// knative.dev/pkg/webhook/certificates, which replaces the certificate and its CA in one
// go: until the webhook configurations have the new CA, every request fails.
type certificates struct {
	reconciler.LeaderAwareFuncs

	client       kubernetes.Interface
	secrets      corev1listers.SecretNamespaceLister
	registration registration
	key          types.NamespacedName
	clock        clock.PassiveClock
	rotation     rotation
	again        func(time.Duration)
}

// NewController keeps the serving certificate in the secret that the options
// of the webhook name, and which has to exist. A certificate near its end is replaced
// without a request that fails; one that is of no use, at once. On every replica, leader or not, a metric reports until when
// the certificate is valid, and the process is ready once the API server can reach it.
func NewController(ctx context.Context, registered Registered) *controller.Impl {
	logger, options := logging.FromContext(ctx), webhook.GetOptions(ctx)
	r := &certificates{
		client:       kubeclient.Get(ctx),
		secrets:      secretinformer.Get(ctx).Lister().Secrets(system.Namespace()),
		registration: newRegistration(ctx, registered),
		key:          types.NamespacedName{Namespace: system.Namespace(), Name: options.SecretName},
		clock:        clock.RealClock{},
		rotation:     rotation{host: Host(options)},
	}
	r.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, r.key)
		return nil
	}
	const name = "Certificates"
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{
		// What is published is remembered between reconciliations, so there is one at a time.
		Concurrency: 1, WorkQueueName: name, Logger: logger.Named(name),
	})
	r.again = func(after time.Duration) { impl.EnqueueKeyAfter(r.key, after) }

	telemetry.ObserveCertificate(func() (time.Time, error) { return notAfter(r.secrets, r.key.Name) })
	if err := errors.Join(
		registered.watch(ctx, func() { impl.EnqueueKey(r.key) }),
		watchReadiness(ctx, registered, process.ReadinessFrom(ctx)),
	); err != nil {
		logger.Fatalw("Setting up the informers failed", "error", err)
	}
	return impl
}

// Host returns the name by which the API server knows the webhook.
func Host(options *webhook.Options) string {
	return options.ServiceName + "." + system.Namespace() + ".svc"
}

// Reconcile implements controller.Reconciler.
func (r *certificates) Reconcile(ctx context.Context, key string) error {
	if !r.IsLeaderFor(r.key) {
		return controller.NewSkipKey(key)
	}
	secret, err := r.secrets.Get(r.key.Name)
	if apierrors.IsNotFound(err) {
		logging.FromContext(ctx).Errorw("The secret of the certificate does not exist; apply config/ again", "secret", r.key.String())
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the secret of the certificate: %w", err)
	}
	next, err := r.rotation.next(r.clock.Now(), secret.Data, r.registration.bundles())
	if err != nil {
		return err
	}
	if next.again > 0 {
		r.again(next.again)
	}
	if next.data == nil {
		return nil
	}
	logging.FromContext(ctx).Infow("Writing the secret of the certificate", "reason", next.why)
	secret = secret.DeepCopy()
	for _, key := range []string{ClientCA, ClientNames} {
		if value, ok := secret.Data[key]; ok {
			next.data[key] = value
		}
	}
	secret.Data = next.data
	if _, err := r.client.CoreV1().Secrets(r.key.Namespace).Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the secret of the certificate: %w", err)
	}
	return nil
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
