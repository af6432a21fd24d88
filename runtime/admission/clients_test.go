/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/runtime/certificates"
)

// issuer signs client certificates.
type issuer struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	template := &x509.Certificate{Subject: pkix.Name{CommonName: "ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	key, cert := sign(t, template, issuer{})
	return issuer{key, cert}
}

// sign makes a key and a certificate, self-signed without an issuer.
func sign(t *testing.T, template *x509.Certificate, by issuer) (*ecdsa.PrivateKey, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(1), time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := by.cert, by.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, cert
}

func (i issuer) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw})
}

// client is the certificate of a client with a common name and a DNS name.
func (i issuer) client(t *testing.T, name, dns string) []tls.Certificate {
	t.Helper()
	key, cert := sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{dns}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, i)
	return []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}}
}

func TestServer_ClientCA_OnlyTheAPIServerSendsAdmissionRequests(t *testing.T) {
	next := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	ca, other := newIssuer(t), newIssuer(t)
	apiServer := ca.client(t, "kube-apiserver", "apiserver.example.com")
	key, cert, servingCA, err := certresources.CreateCerts(t.Context(), "webhook", "ns", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	serving := map[string][]byte{certresources.ServerKey: key, certresources.ServerCert: cert, certresources.CACert: servingCA}
	named := func(names string) map[string][]byte {
		return map[string][]byte{certificates.ClientCA: ca.pem(), certificates.ClientNames: []byte(names)}
	}

	for name, tc := range map[string]struct {
		added  map[string][]byte
		client []tls.Certificate
		path   string
		// want is the status, or 0 if the handshake fails.
		want int
	}{
		"without a CA, any client":           {nil, nil, "/validation", http.StatusOK},
		"the API server":                     {map[string][]byte{certificates.ClientCA: ca.pem()}, apiServer, "/validation", http.StatusOK},
		"by its common name":                 {named("a, kube-apiserver\n"), apiServer, "/validation", http.StatusOK},
		"by its DNS name":                    {named("apiserver.example.com"), apiServer, "/validation", http.StatusOK},
		"another name of the same CA":        {named("kube-apiserver"), ca.client(t, "kubelet", "a"), "/validation", http.StatusUnauthorized},
		"no certificate":                     {map[string][]byte{certificates.ClientCA: ca.pem()}, nil, "/validation", http.StatusUnauthorized},
		"no certificate, unknown path":       {map[string][]byte{certificates.ClientCA: ca.pem()}, nil, "/unknown", http.StatusUnauthorized},
		"no certificate, conversion":         {map[string][]byte{certificates.ClientCA: ca.pem()}, nil, "/conversion", http.StatusOK},
		"a certificate of another CA":        {map[string][]byte{certificates.ClientCA: ca.pem()}, other.client(t, "kube-apiserver", "a"), "/validation", 0},
		"an invalid CA, no client":           {map[string][]byte{certificates.ClientCA: []byte("invalid")}, nil, "/validation", http.StatusUnauthorized},
		"an invalid CA, nor a client of one": {map[string][]byte{certificates.ClientCA: []byte("invalid")}, apiServer, "/validation", 0},
	} {
		t.Run(name, func(t *testing.T) {
			data := maps.Clone(serving)
			maps.Copy(data, tc.added)
			keys := newKeys(t, data)
			config := &tls.Config{MinVersion: tls.VersionTLS13}
			keys.Configure(config)
			server := newServer(config, newRoutes(handlers).handler(t.Context(), next, keys))
			server.ErrorLog = log.New(io.Discard, "", 0)
			listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.ServeTLS(listener, "", "") }()
			t.Cleanup(func() { _ = server.Close() })

			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(data[certresources.CACert])
			transport := &http.Transport{TLSClientConfig: &tls.Config{
				MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: "webhook.ns.svc",
				// It presents a certificate whatever CAs the server accepts.
				GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
					if len(tc.client) == 0 {
						return &tls.Certificate{}, nil
					}
					return &tc.client[0], nil
				},
			}}
			t.Cleanup(transport.CloseIdleConnections)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+listener.Addr().String()+tc.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := transport.RoundTrip(request)
			if tc.want == 0 {
				if err == nil {
					_ = response.Body.Close()
					t.Errorf("the status is %d, want a failed handshake", response.StatusCode)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != tc.want {
				t.Errorf("the status is %d, want %d", response.StatusCode, tc.want)
			}
		})
	}
}
