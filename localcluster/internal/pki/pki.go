/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// leafValidity is the validity of the certificates of one start. A cluster that runs longer is restarted.
const leafValidity = 365 * 24 * time.Hour

// PKI is the set of a cluster's keys. Its paths are inside the folder that it was opened with.
type PKI struct {
	// CAFile verifies the API server to its clients and clients to the API server.
	CAFile string
	// TokenKeyFile signs service account tokens.
	TokenKeyFile string
	// CertFile and KeyFile are the API server's.
	CertFile, KeyFile string

	// CAPEM is the content of CAFile.
	CAPEM []byte

	ca    *x509.Certificate
	caKey crypto.Signer
}

// Open reads the keys in a folder, makes those that are missing, and makes a new certificate for the API server.
func Open(dir string, serverIPs []net.IP, serverNames []string) (*PKI, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the keys: %w", err)
	}
	p := &PKI{
		CAFile:       filepath.Join(dir, "ca.crt"),
		TokenKeyFile: filepath.Join(dir, "sa.key"),
		CertFile:     filepath.Join(dir, "apiserver.crt"),
		KeyFile:      filepath.Join(dir, "apiserver.key"),
	}
	if _, err := loadOrMakeKey(p.TokenKeyFile); err != nil {
		return nil, fmt.Errorf("the key of service account tokens: %w", err)
	}
	var err error
	if p.caKey, err = loadOrMakeKey(filepath.Join(dir, "ca.key")); err != nil {
		return nil, fmt.Errorf("the key of the certificate authority: %w", err)
	}
	if err := p.loadOrMakeCA(); err != nil {
		return nil, fmt.Errorf("the certificate authority: %w", err)
	}
	certPEM, keyPEM, err := p.sign(x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: serverIPs,
		DNSNames:    serverNames,
	})
	if err != nil {
		return nil, fmt.Errorf("the API server's certificate: %w", err)
	}
	if err := errors.Join(writeFile(p.CertFile, certPEM), writeFile(p.KeyFile, keyPEM)); err != nil {
		return nil, fmt.Errorf("the API server's certificate: %w", err)
	}
	return p, nil
}

// Copy copies the keys of one folder that all API servers of a cluster have in common: what clients and tokens are checked with.
func Copy(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("making the folder of the keys: %w", err)
	}
	for _, name := range []string{"ca.crt", "ca.key", "sa.key"} {
		content, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return fmt.Errorf("reading a key: %w", err)
		}
		if err := writeFile(filepath.Join(to, name), content); err != nil {
			return err
		}
	}
	return nil
}

// Client makes a certificate, with its key, that the API server takes for the user and the groups, both as PEM.
func (p *PKI) Client(user string, groups ...string) (certPEM, keyPEM []byte, err error) {
	certPEM, keyPEM, err = p.sign(x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, nil, fmt.Errorf("a client certificate for %s: %w", user, err)
	}
	return certPEM, keyPEM, nil
}

// Server makes a certificate, with its key, for a server at the given addresses that is not the API server, both as PEM.
func (p *PKI) Server(name string, ips ...net.IP) (certPEM, keyPEM []byte, err error) {
	certPEM, keyPEM, err = p.sign(x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: ips,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("a server certificate for %s: %w", name, err)
	}
	return certPEM, keyPEM, nil
}

// ClientFiles is Client for programs that read files: it writes them and returns their paths.
func (p *PKI) ClientFiles(user string, groups ...string) (certFile, keyFile string, err error) {
	certPEM, keyPEM, err := p.Client(user, groups...)
	if err != nil {
		return "", "", err
	}
	dir := filepath.Dir(p.CAFile)
	certFile, keyFile = filepath.Join(dir, user+".crt"), filepath.Join(dir, user+".key")
	if err := errors.Join(writeFile(certFile, certPEM), writeFile(keyFile, keyPEM)); err != nil {
		return "", "", fmt.Errorf("a client certificate for %s: %w", user, err)
	}
	return certFile, keyFile, nil
}

func (p *PKI) loadOrMakeCA() error {
	pem, err := os.ReadFile(p.CAFile)
	if errors.Is(err, fs.ErrNotExist) {
		ca, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "localcluster"}, p.caKey)
		if err != nil {
			return fmt.Errorf("making its certificate: %w", err)
		}
		if pem, err = cert.EncodeCertificates(ca); err != nil {
			return fmt.Errorf("encoding its certificate: %w", err)
		}
		if err := writeFile(p.CAFile, pem); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	certs, err := cert.ParseCertsPEM(pem)
	if err != nil {
		return fmt.Errorf("reading %s: %w", p.CAFile, err)
	}
	p.ca, p.CAPEM = certs[0], pem
	return nil
}

func (p *PKI) sign(template x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("making its key: %w", err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, fmt.Errorf("drawing its serial number: %w", err)
	}
	// An hour back, for clients whose clock differs a little.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(leafValidity)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, &template, p.ca, key.Public(), p.caKey)
	if err != nil {
		return nil, nil, fmt.Errorf("signing it: %w", err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: der})
	if keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
		return nil, nil, fmt.Errorf("encoding its key: %w", err)
	}
	return certPEM, keyPEM, nil
}

func loadOrMakeKey(path string) (crypto.Signer, error) {
	pem, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("making it: %w", err)
		}
		if pem, err = keyutil.MarshalPrivateKeyToPEM(key); err != nil {
			return nil, fmt.Errorf("encoding it: %w", err)
		}
		return key, writeFile(path, pem)
	} else if err != nil {
		return nil, err
	}
	key, err := keyutil.ParsePrivateKeyPEM(pem)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s holds a %T, which cannot sign", path, key)
	}
	return signer, nil
}

// writeFile writes a whole file or none: a start that is interrupted leaves nothing that the next one would choke on.
func writeFile(path string, data []byte) error {
	temp := path + ".tmp"
	err := os.WriteFile(temp, data, 0o600) //nolint:gosec // the folder is that of the user
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
