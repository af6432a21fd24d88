/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"

	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// Keys of the Secret that an administrator may add.
const (
	// clientCA holds the CAs, in PEM form, that sign the client certificates of API servers. With it, admission requests without such a
	// certificate are rejected.
	clientCA = "client-ca-cert.pem"
	// clientNames holds names, separated by commas, one of which must be the common name or a DNS name of the client certificate.
	// Without it every certificate of the CA is accepted.
	clientNames = "client-names"
)

// keys reads the serving certificate and the client CA from the Secret. While the Secret is missing or corrupted, they stay as they were.
type keys struct {
	secrets corev1listers.SecretNamespaceLister
	name    string

	mu     sync.Mutex
	secret *corev1.Secret
	last   *tls.Certificate
}

// get returns the serving certificate.
func (k *keys) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	secret, err := k.secrets.Get(k.name)
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.X509KeyPair(secret.Data[certresources.ServerCert], secret.Data[certresources.ServerKey]); err == nil {
			k.last = &pair
		}
	}
	if k.last == nil {
		return nil, fmt.Errorf("secret %s holds no certificate: %w", k.name, err)
	}
	return k.last, nil
}

// data returns a value of the Secret.
func (k *keys) data(key string) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if secret, err := k.secrets.Get(k.name); err == nil {
		k.secret = secret
	}
	if k.secret == nil {
		return nil
	}
	return k.secret.Data[key]
}

// configure returns a tls.Config.GetConfigForClient that asks for a client certificate if the Secret has a CA for it. A client may
// refuse, since API servers have none for conversions; one that is not signed by the CA ends the handshake.
func (k *keys) configure(config *tls.Config) func(*tls.ClientHelloInfo) (*tls.Config, error) {
	return func(*tls.ClientHelloInfo) (*tls.Config, error) {
		bundle := k.data(clientCA)
		if len(bundle) == 0 {
			return nil, nil // The config is kept.
		}
		asking := config.Clone()
		asking.ClientAuth, asking.ClientCAs = tls.VerifyClientCertIfGiven, x509.NewCertPool()
		asking.ClientCAs.AppendCertsFromPEM(bundle)
		return asking, nil
	}
}

// admits reports whether a connection may send admission requests.
func (k *keys) admits(state *tls.ConnectionState) bool {
	if len(k.data(clientCA)) == 0 {
		return true
	}
	if state == nil || len(state.VerifiedChains) == 0 {
		return false
	}
	names := strings.FieldsFunc(string(k.data(clientNames)), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	leaf := state.PeerCertificates[0]
	return len(names) == 0 || slices.ContainsFunc(append(slices.Clone(leaf.DNSNames), leaf.Subject.CommonName), func(name string) bool {
		return slices.Contains(names, name)
	})
}
