//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// readAttacks aim at the reads and writes of other users.
var readAttacks = []attack{
	// Fields that an older version cannot show are in an annotation, and all annotations of an object together have a limit.
	{name: "AnnotationsUpToTheLimit", webhook: true, do: func(t *testing.T, w *tenant) {
		const limit = 256 << 10
		key := "example.com/filler"
		as := service("full", "{apiVersion: v1, kind: Service, name: target}", "publish: {alias: full-"+w.ns+"}", "ports: [{name: a, port: 80}, {name: b, port: 81}]")
		used := len("samples.knative.dev/addressableservice.class") + len("mallard") + len(key)
		w.try(t, strings.Replace(as, "annotations: {", fmt.Sprintf("annotations: {%s: %q, ", key, strings.Repeat("x", limit-used)), 1))
		readable(t, w)
	}},
	{name: "MalformedStash", webhook: true, do: func(t *testing.T, w *tenant) {
		for i, stash := range []string{"{", "[]", "null", strings.Repeat("[", 10_000), `{"c":{"spec":{"e":{"publish":{"v":"no object"}}}}}`, "\\u0000"} {
			manifest, err := json.Marshal(map[string]any{
				"apiVersion": "samples.knative.dev/v1beta1", "kind": "AddressableService",
				"metadata": map[string]any{"name": fmt.Sprintf("it-%d", i), "annotations": map[string]any{"conversion.samples.knative.dev/properties": stash}},
				"spec":     map[string]any{"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			w.try(t, string(manifest))
		}
		readable(t, w)
	}},
	{name: "LongNamesAndTexts", do: func(t *testing.T, w *tenant) {
		name := strings.Repeat("x", 63)
		w.try(t, service(name+"."+name+"."+name+"."+name[:61], "{apiVersion: v1, kind: Service, name: "+name+"}"))
		w.try(t, service("path", "{apiVersion: v1, kind: Service, name: target}", "path: /"+strings.Repeat("p", 8000)))
		w.try(t, bind("it", strings.Repeat("V", 253), "{apiVersion: example.com/v1, kind: "+strings.Repeat("K", 63)+", name: none}"))
		readable(t, w)
		w.served(t)
	}},
	{name: "DeploymentWhoseDeletionHangs", do: func(t *testing.T, w *tenant) {
		refs := w.apply(t, addressed+"---"+bind("it", "EVIL", toWork)+"---"+fmt.Sprintf(plainDeployment, "finalizers: [example.com/hold]", ""))
		w.as.Delete(t, refs[3])
		w.as.Delete(t, refs[2])
		w.Await(t, refs[2], harness.Deleted)
		w.served(t)
		w.as.Patch(t, refs[3], `{"metadata": {"finalizers": null}}`)
	}},
	// Every Pod of the cluster reaches the webhook's port.
	{name: "TemplateSentToTheWebhook", webhook: true, do: func(t *testing.T, w *tenant) {
		configuration, err := json.Marshal(corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: w.SystemNamespace, Name: "config-addressable"},
			Data:       map[string]string{"domain-template": "{{range 2000000000}}{{range 2000000000}}{{end}}{{end}}"},
		})
		if err != nil {
			t.Fatal(err)
		}
		review := admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
			Request: &admissionv1.AdmissionRequest{
				UID: "1", Operation: admissionv1.Create, Name: "config-addressable", Namespace: w.SystemNamespace,
				Kind:     metav1.GroupVersionKind{Version: "v1", Kind: "ConfigMap"},
				Resource: metav1.GroupVersionResource{Version: "v1", Resource: "configmaps"},
				Object:   runtime.RawExtension{Raw: configuration},
			},
		}
		body, err := json.Marshal(review)
		if err != nil {
			t.Fatal(err)
		}
		answer, status := post(t, w, "/config-validation", bytes.NewReader(body))
		if err := json.Unmarshal(answer, &review); err != nil || review.Response == nil || review.Response.Allowed {
			t.Errorf("a template that never ends was answered with %d %s, want a rejection", status, answer)
		}
		w.served(t)
	}},
	{name: "BodyWithoutEndSentToTheWebhook", webhook: true, do: func(t *testing.T, w *tenant) {
		const size = 64 << 20
		if answer, status := post(t, w, "/defaulting", io.LimitReader(endless{}, size)); status < http.StatusBadRequest {
			t.Errorf("a body of %d bytes was answered with %d %s, want an error", size, status, answer)
		}
		w.served(t)
	}},
}

type endless struct{}

// Read implements io.Reader.
func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// asPod gives the tenant what every Pod has: a way to the webhook's port, and no credentials.
func (w *tenant) asPod(t *testing.T) {
	t.Helper()
	w.webhook = strings.Replace(w.Process(t, "webhook").URL(t, "https-webhook", ""), "http://", "https://", 1)
	w.pod = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(w.pod.CloseIdleConnections)
}

// post sends what any Pod can send, without credentials. A connection that the server closes counts as an answer with an error.
func post(t *testing.T, w *tenant, path string, body io.Reader) (answer []byte, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Deadline)
	defer cancel()
	w.asPod(t)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.webhook+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := w.pod.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			t.Fatalf("posting to %s: no answer within %v: %v", path, harness.Deadline, err)
		}
		return []byte(err.Error()), http.StatusBadRequest
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading the answer of %s: %v", path, err)
	}
	return answer, response.StatusCode
}

// readable fails if the victim's objects, or those of all namespaces, cannot be listed and watched at some version. Without a webhook
// nothing is converted.
func readable(t *testing.T, w *tenant) {
	t.Helper()
	versions := []string{"v1"}
	if w.webhooks {
		versions = append(versions, "v1beta1", "v1alpha1")
	}
	for _, version := range versions {
		resource := schema.GroupVersionResource{Group: "samples.knative.dev", Version: version, Resource: "addressableservices"}
		for _, namespace := range []string{w.victim, metav1.NamespaceAll} {
			client := w.Dynamic.Resource(resource).Namespace(namespace)
			list, err := client.List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("listing at %s in namespace %q: %v", version, namespace, err)
			}
			// From the beginning, so that each object is converted for the watch.
			harness.Eventually(t, "a watch at "+version, func(ctx context.Context) error {
				events, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: "0"})
				if err != nil {
					return fmt.Errorf("watching: %w", err)
				}
				defer events.Stop()
				for range list.Items {
					select {
					case event, ok := <-events.ResultChan():
						if status, isStatus := event.Object.(*metav1.Status); !ok || isStatus {
							return fmt.Errorf("the watch ended with %v", status)
						}
					case <-ctx.Done():
						return errors.New("the watch does not deliver every object")
					}
				}
				return nil
			})
		}
	}
}
