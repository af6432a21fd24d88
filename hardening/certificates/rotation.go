/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	certutil "k8s.io/client-go/util/cert"

	certresources "knative.dev/pkg/webhook/certificates/resources"
)

const (
	// lifetime is the validity of a new certificate.
	lifetime = 7 * 24 * time.Hour
	// renewBefore is the time before expiry at which a certificate is replaced: longer than any webhook is likely to be down.
	renewBefore = 24 * time.Hour
	// propagation is the maximum time until an API server trusts a CA that is in the webhook configurations.
	propagation = 5 * time.Second
)

// Keys of the Secret for a certificate whose CA is not trusted everywhere yet, in addition to those of knative.dev/pkg.
const (
	nextKey  = "next-server-key.pem"
	nextCert = "next-server-cert.pem"
)

// step is the next action. With neither data nor a time, the next step is decided when something changes.
type step struct {
	// data is the new content of the Secret, or nil, and why the reason for it.
	data map[string][]byte
	why  string
	// again is the time after which to decide again.
	again time.Duration
}

// rotation decides on the next content of the Secret.
type rotation struct {
	// host is the name that the API server expects.
	host string
	// published is since when every webhook has had the CA of the next certificate; zero while one does not.
	published time.Time
}

// next decides on the next step. A webhook that is not registered sends no requests, so it is no reason to wait.
func (r *rotation) next(now time.Time, data map[string][]byte, registered []entry) (step, error) {
	serving, err := r.check(data[certresources.ServerKey], data[certresources.ServerCert], data[certresources.CACert], now)
	upcoming, nextErr := r.check(data[nextKey], data[nextCert], data[certresources.CACert], now)
	hasNext := nextErr == nil && now.Before(upcoming[0].NotAfter.Add(-renewBefore))
	switch {
	case err == nil && now.Before(serving[0].NotAfter.Add(-renewBefore)):
		return step{again: serving[0].NotAfter.Add(-renewBefore).Sub(now)}, nil
	case err != nil && hasNext:
		return step{data: switched(data), why: fmt.Sprintf("the serving certificate is invalid: %v", err)}, nil
	case err != nil:
		// Nothing can be lost: with this one every request fails.
		data, createErr := r.create(now)
		return step{data: switched(data), why: err.Error()}, createErr
	case !hasNext:
		next, err := r.create(now)
		if err != nil {
			return step{}, err
		}
		r.published = time.Time{}
		// Earlier CAs than the present one are removed, so that the bundle does not grow.
		ca := pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: serving[len(serving)-1].Raw})
		next[certresources.CACert] = slices.Concat(ca, next[certresources.CACert])
		next[certresources.ServerKey], next[certresources.ServerCert] = data[certresources.ServerKey], data[certresources.ServerCert]
		return step{data: next, why: fmt.Sprintf("the serving certificate is good until %s only", serving[0].NotAfter.Format(time.RFC3339))}, nil
	}
	for _, w := range registered {
		if _, err := r.check(data[nextKey], data[nextCert], w.ca, now); err != nil {
			r.published = time.Time{}
			return step{}, nil //nolint:nilerr // that configuration is about to be written, and its event enqueues the Secret then
		}
	}
	if r.published.IsZero() {
		r.published = now
	}
	if wait := r.published.Add(propagation).Sub(now); wait > 0 {
		return step{again: wait}, nil
	}
	return step{data: switched(data), why: "the API server trusts the next certificate"}, nil
}

// create returns the next certificate with its key and the CA that signed it. They are valid since an hour ago, so that an API
// server whose clock is behind accepts them from the start; those of knative.dev/pkg are valid from now on.
func (r *rotation) create(now time.Time) (map[string][]byte, error) {
	const backdated = time.Hour
	chain, key, err := certutil.GenerateSelfSignedCertKeyWithOptions(certutil.SelfSignedCertKeyOptions{
		Host: r.host, MaxAge: time.Until(now.Add(lifetime)) + backdated,
	})
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	leaf, ca := pem.Decode(chain)
	return map[string][]byte{nextKey: key, nextCert: pem.EncodeToMemory(leaf), certresources.CACert: ca}, nil
}

// switched puts the next certificate in its place. The CA of the one before stays, for other replicas may serve that for another moment.
func switched(data map[string][]byte) map[string][]byte {
	return map[string][]byte{
		certresources.ServerKey:  data[nextKey],
		certresources.ServerCert: data[nextCert],
		certresources.CACert:     data[certresources.CACert],
	}
}

// check verifies a certificate as the API server does: it must have its key, be valid now and for the host, and have been signed by a CA of
// the bundle. It returns the certificate and then that CA.
func (r *rotation) check(key, cert, bundle []byte, now time.Time) ([]*x509.Certificate, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate and its key: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, errors.New("there is no CA")
	}
	chains, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: r.host, CurrentTime: now})
	if err != nil {
		return nil, fmt.Errorf("verifying the certificate: %w", err)
	}
	return chains[0], nil
}
