//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestClientCA_APIServerPresentsItsCertificate_OthersAreRejected follows docs/how-to/authenticate-the-api-server.md. The API
// server of the local control plane presents the client certificate kube-apiserver-webhook-client, signed by the CA of the cluster.
func TestClientCA_APIServerPresentsItsCertificate_OthersAreRejected(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	awaitStatus(t, env, http.StatusBadRequest)
	awaitAdmission(t, env, true)

	addKeys(t, env, "kube-apiserver-webhook-client")
	awaitStatus(t, env, http.StatusUnauthorized)
	awaitAdmission(t, env, true)

	// The client certificates of the cluster's CA that have other names, as those of administrators, do not suffice.
	addKeys(t, env, "another-ca")
	harness.Eventually(t, "the API server is rejected", func(ctx context.Context) error {
		_, err := servicesAt(hub, env, metav1.NamespaceDefault).Create(ctx, objectAt(hub, metav1.NamespaceDefault),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			return fmt.Errorf("got error %w, want one about the webhook", err)
		}
		return nil
	})

	addKeys(t, env, "kube-apiserver-webhook-client")
	awaitAdmission(t, env, true)
}

// addKeys adds the CA of the cluster, and the name of the API server's certificate, to the Secret of the webhook.
func addKeys(t *testing.T, env *harness.Env, name string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"data": map[string][]byte{
		"client-ca-cert.pem": env.Config.CAData, "client-names": []byte(name),
	}})
	if err != nil {
		t.Fatal(err)
	}
	secrets := env.Kube.CoreV1().Secrets(env.SystemNamespace)
	if _, err := secrets.Patch(t.Context(), "webhook-certs", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatalf("adding the CA to the Secret: %v", err)
	}
}

// awaitStatus waits until the webhook answers an admission request of a client without certificate with a status.
func awaitStatus(t *testing.T, env *harness.Env, want int) {
	t.Helper()
	url := strings.Replace(env.Process(t, "webhook").URL(t, "https-webhook", "/validation"), "http://", "https://", 1)
	harness.Eventually(t, fmt.Sprintf("the webhook answers a stranger with %d", want), func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("{"))
		if err != nil {
			return fmt.Errorf("preparing a request: %w", err)
		}
		request.Header.Set("Content-Type", "application/json")
		// A connection keeps the rules of the time when it was made.
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
		response, err := transport.RoundTrip(request)
		if err != nil {
			return fmt.Errorf("sending a request: %w", err)
		}
		defer func() { _ = response.Body.Close() }()
		if response.StatusCode != want {
			return fmt.Errorf("got %s", response.Status)
		}
		return nil
	})
}
