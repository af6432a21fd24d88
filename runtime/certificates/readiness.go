/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/logging"
	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// reachable is the readiness condition that setReady keeps.
const reachable = "the API server cannot reach the webhook yet"

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
