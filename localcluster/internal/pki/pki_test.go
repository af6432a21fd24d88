/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOpen_Folder_CreatesOrReadsTheFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	ips, names := []net.IP{net.IPv4(127, 0, 0, 1)}, []string{"localhost"}
	first, err := Open(dir, ips, names)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(first.CAPEM)
	server := loadCertificate(t, first.CertFile, first.KeyFile)
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if _, err := server.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("the API server's certificate for %s: %v", host, err)
		}
	}

	token, err := os.ReadFile(first.TokenKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Open(dir, ips, names)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(second.TokenKeyFile); err != nil || !bytes.Equal(token, again) {
		t.Errorf("the key of tokens changed (%v)", err)
	}
	if !bytes.Equal(first.CAPEM, second.CAPEM) {
		t.Error("the certificate authority changed")
	}
	if loadCertificate(t, second.CertFile, second.KeyFile).Equal(server) {
		t.Error("the API server's certificate is the old one, and would run out some day")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s can be read by others (%v)", file, err)
		}
	}

	// A client of before is still one, as its authority is the same.
	certPEM, keyPEM, err := first.Client("user", "ducks", "geese")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	client, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(second.CAPEM)
	if _, err := client.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Errorf("a client's certificate: %v", err)
	}
	if client.Subject.CommonName != "user" || !slices.Equal(client.Subject.Organization, []string{"ducks", "geese"}) {
		t.Errorf("a client's certificate is for %v", client.Subject)
	}
}

func TestOpen_BrokenFile_NamesIt(t *testing.T) {
	for _, name := range []string{"ca.crt", "ca.key", "sa.key"} {
		dir := t.TempDir()
		if _, err := Open(dir, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, nil, nil); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("with a broken %s: %v", name, err)
		}
	}
}

func loadCertificate(t *testing.T, certFile, keyFile string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}
