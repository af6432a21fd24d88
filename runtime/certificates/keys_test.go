/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"bytes"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestKeys_SecretCorrupted_ServesTheLastValidCertificate(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	k := NewKeys(corev1listers.NewSecretLister(indexer).Secrets("ns"), "certs")
	if _, err := k.get(nil); err == nil {
		t.Error("a certificate is served although the Secret has none")
	}
	store := func(data map[string][]byte) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: data}
		if err := indexer.Update(secret); err != nil {
			t.Fatal(err)
		}
	}
	served := func() []byte {
		got, err := k.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Certificate[0]
	}
	store(certificate(t, "webhook", time.Hour))
	first := served()
	store(nil)
	if !bytes.Equal(served(), first) {
		t.Error("without a certificate in the secret another one is served")
	}
	if err := indexer.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(served(), first) {
		t.Error("without the secret another certificate is served")
	}
	store(certificate(t, "webhook", time.Hour))
	if bytes.Equal(served(), first) {
		t.Error("the old certificate is served though there is a new one")
	}
}

// A replica may have served no connection yet when the Secret is deleted.
func TestKeys_SecretIsDeletedBeforeTheFirstConnection_ItsCertificateIsServed(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: certificate(t, "webhook", time.Hour)}
	client := fake.NewClientset(secret)
	factory := informers.NewSharedInformerFactory(client, 0)
	secrets := factory.Core().V1().Secrets()
	k := NewKeys(secrets.Lister().Secrets("ns"), "certs")
	if err := k.Follow(secrets.Informer()); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	if err := client.CoreV1().Secrets("ns").Delete(t.Context(), "certs", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the cache has no secret", func() bool {
		_, err := secrets.Lister().Secrets("ns").Get("certs")
		return err != nil
	})
	eventually(t, "the certificate is served", func() bool {
		_, err := k.get(nil)
		return err == nil
	})
}

func TestKeys_SecretIsDeleted_TheClientCAStays(t *testing.T) {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	k := NewKeys(corev1listers.NewSecretLister(indexer).Secrets("ns"), "certs")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "certs"}, Data: map[string][]byte{ClientCA: []byte("ca")}}
	if err := indexer.Add(secret); err != nil {
		t.Fatal(err)
	}
	if k.Admits(nil) {
		t.Error("a client without a certificate is admitted")
	}
	if err := indexer.Delete(secret); err != nil {
		t.Fatal(err)
	}
	if k.Admits(nil) {
		t.Error("a client without a certificate is admitted while the Secret is missing")
	}
}
