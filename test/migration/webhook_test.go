/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// serveWebhook registers a webhook for every change of the kind's objects. It allows a change if answer returns true for the object's name;
// otherwise the connection breaks, as when the webhook's process exits. serveWebhook returns when the API server calls the webhook, which
// requires an object.
func (k *kind) serveWebhook(t *testing.T, answer func(name string) bool) {
	t.Helper()
	asked := make(chan struct{}, 1)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Errorf("reading a review: %v", err)
		}
		if review.Request.DryRun != nil && *review.Request.DryRun {
			select {
			case asked <- struct{}{}:
			default:
			}
		} else if !answer(review.Request.Name) {
			panic(http.ErrAbortHandler)
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	k.env.Apply(t, "", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: webhook.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Fail
  matchPolicy: Equivalent
  clientConfig: {url: %[2]q, caBundle: %[3]s}
  rules: [{apiGroups: [%[4]s], apiVersions: ["*"], operations: [UPDATE], resources: [gauges]}]
`, k.namespace, server.URL, base64.StdEncoding.EncodeToString(ca), k.resource.Group))
	t.Cleanup(func() {
		err := k.env.Kube.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(context.Background(), k.namespace, metav1.DeleteOptions{})
		if err != nil {
			t.Errorf("deleting the webhook of the test: %v", err)
		}
	})
	harness.Eventually(t, "the webhook is called", func(ctx context.Context) error {
		object := &k.list(t)[0]
		client := k.env.Dynamic.Resource(k.resource.WithVersion("v1")).Namespace(k.namespace)
		if _, err := client.Update(ctx, object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			return err
		}
		select {
		case <-asked:
			return nil
		default:
			return errors.New("it was not")
		}
	})
}

func TestMigrate_WebhookDownForAWhile_LosesNoObject(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n = 5
	k.store(t, n)
	k.storeAt(t, "v1")
	calls := make(chan string, 100)
	k.serveWebhook(t, func(name string) bool {
		calls <- name
		return len(calls) > 6
	})
	m := k.migrator(nil)
	if _, err := m.Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
	k.expectStored(t, n)
}

func TestMigrate_WebhookStaysDown_EndsSoon(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n = 20
	k.store(t, n)
	k.storeAt(t, "v1")
	k.serveWebhook(t, func(string) bool { return false })
	mark := k.env.Mark(t)
	m := k.migrator(nil)
	m.Backoff = wait.Backoff{Duration: time.Millisecond, Steps: 2}
	_, err := m.Migrate(t.Context(), k.resource.String())
	if err == nil || !strings.Contains(err.Error(), "writing "+k.namespace+"/o-0: ") || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("got error %v, want one about the first object", err)
	}
	patches := 0
	for _, request := range k.requests(t, mark) {
		if request == "patch gauges" {
			patches++
		}
	}
	if patches != 2 {
		t.Errorf("%d patches were tried, want two for the first object", patches)
	}
	if got := fmt.Sprint(k.crd(t).Status.StoredVersions); got != "[v1alpha1 v1]" {
		t.Errorf("status.storedVersions is %s, want both", got)
	}
}

func TestMigrate_ConnectionBroken_IsRetried(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 3)
	k.storeAt(t, "v1")
	k.change(t, notServing("v1alpha1"))
	broken := map[string]bool{}
	m := k.migrator(func(r *http.Request) error {
		// Each fails once: reading and writing the CRD, listing, and for each object writing and reading it.
		sort := r.Method + r.URL.Path + r.Header.Get("Content-Type")
		if broken[sort] {
			return nil
		}
		broken[sort] = true
		return errors.New("the connection is broken")
	})
	if _, err := m.Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
	if len(broken) != 9 {
		t.Errorf("%d sorts of requests were broken, want 9: %v", len(broken), broken)
	}
	k.expectMigrated(t, 3)
}
