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
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/migration"
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
	m, logs := k.migrator(t, nil)
	if _, err := m.Migrate(t.Context(), k.resource, nil); err != nil {
		t.Fatal(err)
	}
	k.expectStored(t, n)
	if again := logs.FilterMessage("Trying again").Len(); again != 6 {
		t.Errorf("it is logged %d times that a request is retried, want 6", again)
	}
}

// Objects fail here and there, as many as it takes to give up when they follow each other.
func TestMigrate_WebhookFailsForSomeObjects_NamesThemAndMigratesTheRest(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 8)
	k.storeAt(t, "v1")
	bad := []string{"o-0", "o-2", "o-4", "o-7"}
	k.serveWebhook(t, func(name string) bool { return !slices.Contains(bad, name) })
	m, _ := k.migrator(t, nil)
	m.Backoff.Steps = 3
	summary, err := m.Migrate(t.Context(), k.resource, nil)
	var failed migration.ObjectsError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "tried 3 times") {
		t.Fatalf("got error %v, want one that names objects that were tried three times", err)
	}
	var names []string
	for _, object := range failed {
		names = append(names, object.Object.Name)
	}
	if diff := cmp.Diff(bad, names); diff != "" {
		t.Errorf("the objects that it names differ (-want +got):\n%s", diff)
	}
	if summary.Moved != 4 {
		t.Errorf("the summary is %+v, want 4 objects moved", summary)
	}
}

func TestMigrate_WebhookStaysDown_EndsSoon(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n = 20
	k.store(t, n)
	k.storeAt(t, "v1")
	k.serveWebhook(t, func(string) bool { return false })
	mark := k.env.Mark(t)
	m, _ := k.migrator(t, nil)
	m.Backoff = wait.Backoff{Duration: time.Millisecond, Steps: 2}
	_, err := m.Migrate(t.Context(), k.resource, nil)
	if err == nil || !strings.Contains(err.Error(), "gave up after 3 objects in a row, and tried no others") || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("got error %v, want one that it gave up, and why", err)
	}
	patches := 0
	for _, request := range k.requests(t, mark) {
		if request == "patch gauges" {
			patches++
		}
	}
	if patches != 6 {
		t.Errorf("%d patches were tried, want two for each of three objects", patches)
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
	m, _ := k.migrator(t, func(r *http.Request) error {
		// Each fails once: reading and writing the CRD, listing, and for each object writing and reading it.
		sort := r.Method + r.URL.Path + r.Header.Get("Content-Type")
		if broken[sort] {
			return nil
		}
		broken[sort] = true
		return errors.New("the connection is broken")
	})
	if _, err := m.Migrate(t.Context(), k.resource, nil); err != nil {
		t.Fatal(err)
	}
	if len(broken) != 9 {
		t.Errorf("%d sorts of requests were broken, want 9: %v", len(broken), broken)
	}
	k.expectMigrated(t, 3)
}
