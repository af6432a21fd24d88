/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// Keys of the Secret that an administrator may add.
const (
	// ClientCA holds the CAs, in PEM form, that sign the client certificates of API servers. With it, admission requests without such a
	// certificate are rejected.
	ClientCA = "client-ca-cert.pem"
	// ClientNames holds names, separated by commas, one of which must be the common name or a DNS name of the client certificate.
	// Without it every certificate of the CA is accepted.
	ClientNames = "client-names"
)

// Keys reads the serving certificate and the client CA from the Secret. While the Secret is missing or corrupted, they stay as they were.
type Keys struct {
	secrets corev1listers.SecretNamespaceLister
	name    string

	secret atomic.Pointer[corev1.Secret]
	pair   atomic.Pointer[tls.Certificate]
}

// NewKeys returns the Keys of a Secret.
func NewKeys(secrets corev1listers.SecretNamespaceLister, name string) *Keys {
	k := &Keys{secrets: secrets, name: name}
	k.secret.Store(&corev1.Secret{})
	return k
}

// Follow remembers the certificate and the CA at each event of the Secret, so that they are known if it is deleted before the first connection.
func (k *Keys) Follow(secrets cache.SharedInformer) error {
	_, err := secrets.AddEventHandler(controller.HandleAll(func(object any) {
		if secret, ok := object.(*corev1.Secret); ok && secret.Name == k.name {
			k.secret.Store(secret)
			_, _ = k.get(nil)
		}
	}))
	if err != nil {
		return fmt.Errorf("following the secret of the certificate: %w", err)
	}
	return nil
}

// data returns the content of the Secret.
func (k *Keys) data() map[string][]byte {
	if secret, err := k.secrets.Get(k.name); err == nil {
		k.secret.Store(secret)
	}
	return k.secret.Load().Data
}

// get returns the serving certificate.
func (k *Keys) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	data := k.data()
	pair, err := tls.X509KeyPair(data[certresources.ServerCert], data[certresources.ServerKey])
	if err == nil {
		k.pair.Store(&pair)
	}
	if last := k.pair.Load(); last != nil {
		return last, nil
	}
	return nil, fmt.Errorf("the Secret %s holds no certificate: %w", k.name, err)
}

// Configure makes a server serve the certificate, and request a client certificate if the Secret has a CA for it. A client without one is
// accepted, since API servers have none for conversions; a certificate that the CA has not signed ends the handshake.
func (k *Keys) Configure(config *tls.Config) {
	config.GetCertificate = k.get
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		bundle := k.data()[ClientCA]
		if len(bundle) == 0 {
			return nil, nil //nolint:nilnil // the config is kept
		}
		requesting := config.Clone()
		requesting.ClientAuth, requesting.ClientCAs = tls.VerifyClientCertIfGiven, x509.NewCertPool()
		requesting.ClientCAs.AppendCertsFromPEM(bundle)
		return requesting, nil
	}
}

// Admits reports whether a connection may send admission requests.
func (k *Keys) Admits(state *tls.ConnectionState) bool {
	if len(k.data()[ClientCA]) == 0 {
		return true
	}
	if state == nil || len(state.VerifiedChains) == 0 {
		return false
	}
	names := strings.FieldsFunc(string(k.data()[ClientNames]), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	leaf := state.PeerCertificates[0]
	return len(names) == 0 || sets.New(leaf.DNSNames...).Insert(leaf.Subject.CommonName).HasAny(names...)
}
