/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	certresources "knative.dev/pkg/webhook/certificates/resources"

	"github.com/mallard-dev/mallard/runtime/telemetry"
)

func TestExpiryIsThatOfTheServingCertificate(t *testing.T) {
	end := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	_, cert, _, err := certresources.CreateCerts(t.Context(), "webhook", "ns", end)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		data map[string][]byte
		want time.Time
		is   error
		says string
	}{
		"a certificate":     {map[string][]byte{certresources.ServerCert: cert}, end, nil, ""},
		"no secret":         {nil, time.Time{}, telemetry.ErrUnknown, ""},
		"an empty secret":   {map[string][]byte{}, time.Time{}, telemetry.ErrUnknown, ""},
		"not PEM":           {map[string][]byte{certresources.ServerCert: []byte("text")}, time.Time{}, nil, "certs: server-cert.pem is not PEM"},
		"not a certificate": {map[string][]byte{certresources.ServerCert: []byte("-----BEGIN X-----\nAAAA\n-----END X-----\n")}, time.Time{}, nil, "certs: server-cert.pem: "},
	} {
		t.Run(name, func(t *testing.T) {
			indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
			if tc.data != nil {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: tc.data}
				if err := indexer.Add(secret); err != nil {
					t.Fatal(err)
				}
			}
			got, err := notAfter(corev1listers.NewSecretLister(indexer).Secrets("ns"), "certs")
			if !got.Equal(tc.want) || !errors.Is(err, tc.is) && tc.is != nil {
				t.Errorf("got %v and error %v", got, err)
			}
			if tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got error %v, want one that says %q", err, tc.says)
			}
			if tc.says == "" && tc.is == nil && err != nil {
				t.Error(err)
			}
		})
	}
}
