/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/runtime/process"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// afterDemotion is longer than the time in which a process that loses its lease drops all keys.
const afterDemotion = time.Minute

// reachable is the readiness condition that setReady keeps.
const reachable = "the API server cannot reach the webhook yet"

// certificates reconciles the Secret. On every replica it decides whether the process is ready; only the leader writes.
type certificates struct {
	reconciler.LeaderAwareFuncs

	client     kubernetes.Interface
	registered Registered
	informers  Informers
	key        types.NamespacedName
	clock      clock.PassiveClock
	rotation   rotation
	again      func(time.Duration)

	readiness    *process.Readiness
	hasBeenReady bool
}

// NewController keeps the serving certificate in the Secret that the options of the webhook name, and which has to exist.
func NewController(ctx context.Context, registered Registered, informers Informers) *controller.Impl {
	logger, options := logging.FromContext(ctx), webhook.GetOptions(ctx)
	r := &certificates{
		client: kubeclient.Get(ctx), registered: registered, informers: informers,
		key:       types.NamespacedName{Namespace: system.Namespace(), Name: options.SecretName},
		clock:     clock.RealClock{},
		rotation:  rotation{host: Host(options)},
		readiness: process.ReadinessFrom(ctx),
	}
	r.PromoteFunc = func(bucket reconciler.Bucket, enqueue func(reconciler.Bucket, types.NamespacedName)) error {
		enqueue(bucket, r.key)
		return nil
	}
	r.DemoteFunc = func(reconciler.Bucket) { r.again(afterDemotion) }
	r.readiness.Set(reachable, false)
	impl := controller.NewContext(ctx, r, controller.ControllerOptions{
		// It remembers the published certificate between reconciliations, so only one may run at a time.
		Concurrency: 1, WorkQueueName: "Certificates", Logger: logger.Named("Certificates"),
	})
	r.again = func(after time.Duration) { impl.EnqueueKeyAfter(r.key, after) }
	registered.Watch(ctx, informers, func() { impl.EnqueueKey(r.key) })
	return impl
}

// Host returns the name by which the API server knows the webhook.
func Host(options *webhook.Options) string {
	return options.ServiceName + "." + system.Namespace() + ".svc"
}

// Reconcile implements controller.Reconciler.
func (r *certificates) Reconcile(ctx context.Context, key string) error {
	secret, err := r.informers.Secrets.Lister().Secrets(r.key.Namespace).Get(r.key.Name)
	if err != nil {
		r.setReady(ctx, fmt.Errorf("reading the secret of the certificate; apply config/ again if it does not exist: %w", err), nil)
		return nil
	}
	registered, missing := r.registered.read(r.informers)
	r.setReady(ctx, r.checkCertificate(secret), r.checkRegistration(secret, registered, missing))
	if !r.IsLeaderFor(r.key) {
		return controller.NewSkipKey(key)
	}
	next, err := r.rotation.next(r.clock.Now(), secret.Data, registered)
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
	if _, err := r.client.CoreV1().Secrets(r.key.Namespace).Update(confidential.Context(ctx), secret, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the secret of the certificate: %w", confidential.Answer(err))
	}
	return nil
}

// setReady keeps the process unready until the serving certificate is valid and its CA is in every webhook configuration and CRD: before, the
// API server would fail each request that it sends here.
//
// From then on only the certificate counts. The configurations are the same for all replicas: if all became unready because one was deleted
// or corrupted, the API server could not call the webhooks of the others either.
func (r *certificates) setReady(ctx context.Context, certificateErr, registrationErr error) {
	err := errors.Join(certificateErr, registrationErr)
	switch {
	case err == nil:
	case r.hasBeenReady:
		logging.FromContext(ctx).Errorw("The API server can no longer call every webhook", "error", err)
	default:
		logging.FromContext(ctx).Infow("Not ready", "reason", err)
	}
	r.hasBeenReady = r.hasBeenReady || err == nil
	r.readiness.Set(reachable, certificateErr == nil && r.hasBeenReady)
}

// checkCertificate checks that the Secret holds a certificate with which the process can serve, and reports when it expires.
func (r *certificates) checkCertificate(secret *corev1.Secret) error {
	now := r.clock.Now()
	chain, err := check(secret.Data[certresources.ServerKey], secret.Data[certresources.ServerCert], secret.Data[certresources.CACert], r.rotation.host, now)
	if err != nil {
		return fmt.Errorf("secret %s: %w", secret.Name, err)
	}
	telemetry.CertificateExpires(chain[0].NotAfter)
	// No event reports the end of a certificate.
	r.again(chain[0].NotAfter.Sub(now))
	return nil
}

// checkRegistration checks that every webhook sends requests, and trusts the certificate in the Secret.
func (r *certificates) checkRegistration(secret *corev1.Secret, registered []entry, missing error) error {
	problems := []error{missing}
	for _, w := range registered {
		_, err := check(secret.Data[certresources.ServerKey], secret.Data[certresources.ServerCert], w.ca, r.rotation.host, r.clock.Now())
		switch {
		case !w.isComplete:
			problems = append(problems, fmt.Errorf("webhook %s has no rules or no path yet", w.name))
		case err != nil:
			problems = append(problems, fmt.Errorf("webhook %s: caBundle does not match Secret %s", w.name, secret.Name))
		}
	}
	return errors.Join(problems...)
}
