/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/cert"
)

const endpointsAnnotation = "localcluster.mallard.dev/endpoints"

// TestWebhooks_Service_AreCalledWhereTheyRun registers a webhook as in a real cluster, by its Service, and changes the address at which it
// is served.
func TestWebhooks_Service_AreCalledWhereTheyRun(t *testing.T) {
	client := sharedCluster(t).client(t)
	namespace := newNamespace(t, client)
	host := "guard." + namespace + ".svc"
	first, bundle := serveWebhook(t, host, "rejected by the first")
	second, secondBundle := serveWebhook(t, host, "rejected by the second")
	wrong, wrongBundle := serveWebhook(t, "other."+namespace+".svc", "rejected by the wrong one")
	registerWebhook(t, client, namespace, append(append(bundle, secondBundle...), wrongBundle...))

	service, err := client.CoreV1().Services(namespace).Create(t.Context(), &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 8443}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	annotate := func(value string) {
		t.Helper()
		service.Annotations = map[string]string{endpointsAnnotation: value}
		if service, err = client.CoreV1().Services(namespace).Update(t.Context(), service, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(words ...string) {
		t.Helper()
		eventually(t, strings.Join(words, " "), func(ctx context.Context) error {
			_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx,
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"}}, metav1.CreateOptions{})
			for _, word := range words {
				if err == nil || !strings.Contains(err.Error(), word) {
					return fmt.Errorf("not rejected with %q: %w", word, err)
				}
			}
			return nil
		})
	}

	expect(namespace+"/guard", "no annotation "+endpointsAnnotation)
	annotate("443=" + first.Listener.Addr().String())
	expect(namespace+"/guard", "no address for port 8443")
	annotate("8443")
	expect(namespace+"/guard", `"8443" is not of the form`)
	annotate("9090=127.0.0.1:1 8443=" + first.Listener.Addr().String())
	expect("rejected by the first")
	// An open connection stays with its server until the server ends, as behind a real Service.
	annotate("8443=" + second.Listener.Addr().String())
	first.Close()
	expect("rejected by the second")
	annotate("8443=" + wrong.Listener.Addr().String())
	second.Close()
	expect("certificate is valid for other."+namespace+".svc", host)
}

// serveWebhook serves, with a certificate for the given name, a webhook that rejects all.
func serveWebhook(t *testing.T, host, message string) (*httptest.Server, []byte) {
	t.Helper()
	pair, bundle := makeCertificate(t, host)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: message}}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	// The rejected handshakes are what the test is about.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, bundle
}

// makeCertificate makes a certificate for a name, and what verifies it.
func makeCertificate(t *testing.T, host string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:  x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := cert.EncodeCertificates(parsed)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, bundle
}

func registerWebhook(t *testing.T, client kubernetes.Interface, namespace string, bundle []byte) {
	t.Helper()
	fail, none, port := admissionregistrationv1.Fail, admissionregistrationv1.SideEffectClassNone, int32(8443)
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "guard.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				CABundle: bundle,
				Service:  &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: "guard", Port: &port},
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
			FailurePolicy:           &fail,
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	configs := client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := configs.Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = configs.Delete(context.Background(), config.Name, metav1.DeleteOptions{}) })
}
