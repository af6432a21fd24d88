/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/clock"

	secretinformer "knative.dev/pkg/injection/clients/namespacedkube/informers/core/v1/secret"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/system"
	"knative.dev/pkg/webhook"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/runtime/process"
)

// reachable is the readiness condition that readiness keeps.
const reachable = "the API server cannot reach the webhook yet"

// readiness keeps the process unready until the serving certificate is good and its
// CA is in every webhook configuration and CRD: before, the API server would fail each request
// that it sends here.
//
// From then on only the certificate counts, for that is what a replica serves
// with. The configurations are the same for all replicas: if one were deleted or corrupted
// and all replicas became unready for it, the API server could not call the webhooks of
// the others either. That is logged as an error, and the leader repairs what it can.
type readiness struct {
	process      *process.Readiness
	secrets      corev1listers.SecretNamespaceLister
	secretName   string
	host         string
	registration registration
	clock        clock.WithDelayedExecution

	mu        sync.Mutex
	wasReady  bool
	complaint string
	expiry    clock.Timer
}

// watchReadiness runs on every replica, leader or not, for each has to know of itself.
func watchReadiness(ctx context.Context, registered Registered, of *process.Readiness) error {
	options := webhook.GetOptions(ctx)
	r := &readiness{
		process:      of,
		secrets:      secretinformer.Get(ctx).Lister().Secrets(system.Namespace()),
		secretName:   options.SecretName,
		host:         Host(options),
		registration: newRegistration(ctx, registered),
		clock:        clock.RealClock{},
	}
	r.process.Set(reachable, false)
	return registered.watch(ctx, func() { r.update(ctx) })
}

// update looks again. Each informer calls it in a goroutine of its own; one at a
// time, so that what was seen last is what counts.
func (r *readiness) update(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	secret, until, certificateErr := r.checkCertificate()
	var registrationErr error
	if secret != nil {
		registrationErr = r.checkRegistration(secret)
	}
	ready := certificateErr == nil && (registrationErr == nil || r.wasReady)
	r.wasReady = r.wasReady || ready
	r.process.Set(reachable, ready)
	r.complain(ctx, errors.Join(certificateErr, registrationErr))

	// No event reports the end of a certificate.
	if r.expiry != nil {
		r.expiry.Stop()
		r.expiry = nil
	}
	if certificateErr == nil {
		r.expiry = r.clock.AfterFunc(until.Sub(r.clock.Now()), func() {
			if ctx.Err() == nil {
				// Not in the clock's own goroutine, for update asks the clock.
				go r.update(ctx)
			}
		})
	}
}

// complain logs what is amiss, once until that changes. Before the first time it is what a start looks like.
func (r *readiness) complain(ctx context.Context, err error) {
	complaint := ""
	if err != nil {
		complaint = err.Error()
	}
	if complaint == r.complaint {
		return
	}
	r.complaint = complaint
	logger := logging.FromContext(ctx)
	switch {
	case err == nil:
		logger.Info("The certificate is good and every webhook has its CA")
	case r.wasReady:
		logger.Errorw("The API server cannot reach every webhook any more", "error", err)
	default:
		logger.Infow("Not ready", "reason", complaint)
	}
}

// checkCertificate returns the secret of the serving certificate, where there is one, and until when the certificate is good.
func (r *readiness) checkCertificate() (*corev1.Secret, time.Time, error) {
	secret, err := r.secrets.Get(r.secretName)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading the secret of the certificate: %w", err)
	}
	leaf, err := check(secret.Data[certresources.ServerKey], secret.Data[certresources.ServerCert], secret.Data[certresources.CACert], r.host, r.clock.Now())
	if err != nil {
		return secret, time.Time{}, fmt.Errorf("secret %s: %w", secret.Name, err)
	}
	return secret, leaf.NotAfter, nil
}

// checkRegistration checks that every webhook sends requests, and trusts the certificate in the secret.
func (r *readiness) checkRegistration(secret *corev1.Secret) error {
	found, missing := r.registration.all()
	problems := []error{missing}
	for _, w := range found {
		_, err := check(secret.Data[certresources.ServerKey], secret.Data[certresources.ServerCert], w.ca, r.host, r.clock.Now())
		if !w.isComplete || err != nil {
			problems = append(problems, fmt.Errorf("webhook %s does not have our CA, or no rules or path yet", w.name))
		}
	}
	return errors.Join(problems...)
}
