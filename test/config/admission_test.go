/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/webhook"
	"github.com/mallard-dev/mallard/test/fixtures"
)

const (
	withoutDefaults = `{"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "metadata": {"name": "it"},
		"spec": {"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}}}`
	complete = `{"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "metadata": {"name": "complete",
		"annotations": {"samples.knative.dev/addressableservice.class": "mallard"}, "finalizers": ["samples.knative.dev/addressableservice"]},
		"spec": {"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}, "visibility": "Public"}}`
	binding = `{"apiVersion": "samples.knative.dev/v1", "kind": "AddressBinding", "metadata": {"name": "it"},
		"spec": {"address": {"name": "it"},
			"subject": {"apiVersion": "apps/v1", "kind": "Deployment", "selector": {"matchLabels": {"example.com/a": "b"}}}}}`
)

// TestConfig_Admission_CallsAreFew counts the calls of the webhooks for each write, and the lines that the webhook logs for it.
func TestConfig_Admission_CallsAreFew(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	client := func(resource string) dynamic.ResourceInterface {
		return env.Dynamic.Resource(v1.SchemeGroupVersion.WithResource(resource)).Namespace(ns)
	}
	created := func(resource, manifest string) func() error {
		return func() error {
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON([]byte(manifest)); err != nil {
				t.Fatal(err)
			}
			_, err := client(resource).Create(t.Context(), object, metav1.CreateOptions{})
			return err
		}
	}
	patched := func(resource, patch string, subresources ...string) func() error {
		return func() error {
			_, err := client(resource).Patch(t.Context(), "it", types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
			return err
		}
	}
	const services, bindings = "addressableservices", "addressbindings"
	for _, write := range []struct {
		name                   string
		do                     func() error
		defaulting, validation int
		fails                  string
	}{
		{"creating an object without defaults", created(services, withoutDefaults), 1, 0, ""},
		{"creating a complete object", created(services, complete), 0, 0, ""},
		{"a label", patched(services, `{"metadata": {"labels": {"a": "b"}}}`), 0, 0, ""},
		{"an annotation", patched(services, `{"metadata": {"annotations": {"example.com/a": "b"}}}`), 0, 0, ""},
		{"the spec", patched(services, `{"spec": {"path": "/new"}}`), 0, 0, ""},
		{"the status", patched(services, `{"status": {"annotations": {"a": "b"}}}`, "status"), 0, 0, ""},
		{"an update that leaves out the defaults", patched(services,
			`{"metadata": {"annotations": null, "finalizers": null}, "spec": {"visibility": null}}`), 1, 0, ""},
		{
			"another class", patched(services, `{"metadata": {"annotations": {"samples.knative.dev/addressableservice.class": "other"}}}`), 0, 1,
			"the class cannot be changed",
		},
		{"a reference to the object itself", patched(services,
			`{"spec": {"ref": {"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "name": "it"}}}`), 0, 1, "cannot refer to itself"},
		{"an object of another class", created(services, strings.NewReplacer(`"mallard"`, `"other"`, `"complete"`, `"other"`).Replace(complete)), 0, 1, ""},
		{"creating a binding", created(bindings, binding), 1, 0, ""},
		{"the variable of a binding", patched(bindings, `{"spec": {"variable": "URL"}}`), 0, 0, ""},
		{"a label of a binding", patched(bindings, `{"metadata": {"labels": {"a": "b"}}}`), 0, 0, ""},
		{"a subject in another namespace", patched(bindings, `{"spec": {"subject": {"namespace": "other"}}}`), 0, 1, "subjects are in namespace"},
		{"an invalid selector", patched(bindings, `{"spec": {"subject": {"selector": {"matchLabels": {"-": "b"}}}}}`), 0, 1, "spec.subject.selector"},
	} {
		before := env.Admissions(t)
		lines := linesOf(t, env, ns)
		err := write.do()
		if (err == nil) != (write.fails == "") || err != nil && !strings.Contains(err.Error(), write.fails) {
			t.Errorf("%s: got error %v, want %q", write.name, err, write.fails)
		}
		after := env.Admissions(t)
		if n := after[webhook.DefaultingName] - before[webhook.DefaultingName]; n != write.defaulting {
			t.Errorf("%s: the defaulting webhook was called %d times, want %d", write.name, n, write.defaulting)
		}
		if n := after[webhook.ValidationName] - before[webhook.ValidationName]; n != write.validation {
			t.Errorf("%s: the validating webhook was called %d times, want %d", write.name, n, write.validation)
		}
		// It logs what it rejects or warns about.
		if got := linesOf(t, env, ns); len(got)-len(lines) != write.validation {
			t.Errorf("%s: the webhook logged %d lines, want %d:\n%s", write.name, len(got)-len(lines), write.validation, strings.Join(got[len(lines):], ""))
		}
	}
}

// linesOf returns the lines of the webhook's log that contain a namespace.
func linesOf(t *testing.T, env *harness.Env, namespace string) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(env.Process(t, "webhook").Log(t)) {
		if strings.Contains(line, namespace) {
			lines = append(lines, line)
		}
	}
	return lines
}
