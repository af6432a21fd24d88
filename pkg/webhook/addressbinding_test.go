/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// written returns the configuration that was written, nil if none was.
func written(t *testing.T, actions []clienttesting.Action) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	var configuration *admissionregistrationv1.MutatingWebhookConfiguration
	for _, action := range actions {
		update, ok := action.(clienttesting.UpdateAction)
		if !ok || configuration != nil {
			t.Fatalf("more was done than one update: %v", actions)
		}
		configuration, _ = update.GetObject().(*admissionregistrationv1.MutatingWebhookConfiguration)
	}
	return configuration
}

// rulesOf are the rules of a webhook, each as group/version/resource.
func rulesOf(entry admissionregistrationv1.MutatingWebhook) []string {
	rules := []string{}
	for _, rule := range entry.Rules {
		rules = append(rules, strings.Join(rule.APIGroups, ",")+"/"+strings.Join(rule.APIVersions, ",")+"/"+strings.Join(rule.Resources, ","))
	}
	return rules
}

func TestBindingRules_RecordedKindsOfSubjects(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		objects []runtime.Object
		want    []string
	}{
		"no binding": {reason: "No webhook call is needed.", want: []string{}},
		"built-in":   {reason: "The webhook is not called for scale or status.", objects: []runtime.Object{bindingTo("apps/v1", "Deployment")}, want: []string{"apps/v1/deployments"}},
		"two of a kind": {
			reason:  "One rule does.",
			objects: []runtime.Object{bindingTo("apps/v1", "Deployment"), bindingTo("apps/v1", "Deployment", func(b *v1.AddressBinding) { b.Name = "other" })},
			want:    []string{"apps/v1/deployments"},
		},
		"several kinds": {
			reason:  "They are in an order.",
			objects: []runtime.Object{bindingTo("batch/v1", "CronJob"), bindingTo("example.com/v1", "Radius"), bindingTo("apps/v1", "StatefulSet")},
			want:    []string{"apps/v1/statefulsets", "batch/v1/cronjobs", "example.com/v1/radii"},
		},
		"a kind that is not recorded": {
			reason:  "The controller cannot list it.",
			objects: []runtime.Object{bindingTo("apps/v1", "Deployment", func(b *v1.AddressBinding) { b.Status.Kinds = nil }), bindingTo("batch/v1", "Job")},
			want:    []string{"batch/v1/jobs"},
		},
		"a former kind": {
			reason:  "New objects of it get nothing.",
			objects: []runtime.Object{bindingTo("apps/v1", "Deployment", func(b *v1.AddressBinding) { b.Spec.Subject.Kind = "StatefulSet" })},
			want:    []string{},
		},
		"a binding that is deleted": {reason: "It gives nothing anymore.", objects: []runtime.Object{bindingTo("apps/v1", "Deployment", goingBinding)}, want: []string{}},
		"a binding without a value": {reason: "It is about to have one.", objects: []runtime.Object{bindingTo("apps/v1", "Deployment", func(b *v1.AddressBinding) { b.Status.Value = "" })}, want: []string{"apps/v1/deployments"}},
	} {
		t.Run(name, func(t *testing.T) {
			b, client := newBindingAdmission(t, append(tc.objects, bindingConfiguration(), certificateSecret("ca"))...)
			if err := b.Reconcile(t.Context(), binding.WebhookName); err != nil {
				t.Fatal(err)
			}
			got := written(t, client.Actions())
			if got == nil {
				t.Fatal("nothing was written, not even the CA")
			}
			for i, entry := range got.Webhooks {
				if diff := cmp.Diff(tc.want, rulesOf(entry)); diff != "" {
					t.Errorf("rules of webhook %s (-want +got):\n%s\nReason: %s", entry.Name, diff, tc.reason)
				}
				want := bindingConfiguration().Webhooks[i]
				want.Rules, want.ClientConfig.CABundle, want.ClientConfig.Service.Path = entry.Rules, []byte("ca"), new("/binding")
				if diff := cmp.Diff(want, entry); diff != "" {
					t.Errorf("webhook %s (-want +got):\n%s", entry.Name, diff)
				}
				for _, rule := range entry.Rules {
					if diff := cmp.Diff([]admissionregistrationv1.OperationType{"CREATE", "UPDATE"}, rule.Operations); diff != "" || *rule.Scope != "Namespaced" {
						t.Errorf("a rule is for other requests: %+v", rule)
					}
				}
			}
		})
	}
}

func TestBindingConfiguration_WrittenOnlyWhereItDiffers(t *testing.T) {
	objects := []runtime.Object{bindingTo("apps/v1", "Deployment"), certificateSecret("ca")}
	b, client := newBindingAdmission(t, append(objects, bindingConfiguration())...)
	if err := b.Reconcile(t.Context(), binding.WebhookName); err != nil {
		t.Fatal(err)
	}
	good := written(t, client.Actions())
	for name, tc := range map[string]struct {
		change  func(*admissionregistrationv1.MutatingWebhook)
		written bool
	}{
		"nothing":  {change: func(*admissionregistrationv1.MutatingWebhook) {}},
		"the CA":   {change: func(w *admissionregistrationv1.MutatingWebhook) { w.ClientConfig.CABundle = []byte("old") }, written: true},
		"a path":   {change: func(w *admissionregistrationv1.MutatingWebhook) { w.ClientConfig.Service.Path = nil }, written: true},
		"a rule":   {change: func(w *admissionregistrationv1.MutatingWebhook) { w.Rules[0].Resources = []string{"deployments/*"} }, written: true},
		"the rest": {change: func(w *admissionregistrationv1.MutatingWebhook) { w.NamespaceSelector = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			present := good.DeepCopy()
			tc.change(&present.Webhooks[1])
			b, client := newBindingAdmission(t, append(objects, present)...)
			if err := b.Reconcile(t.Context(), binding.WebhookName); err != nil {
				t.Fatal(err)
			}
			if got := written(t, client.Actions()) != nil; got != tc.written {
				t.Errorf("it was written: %t, want %t", got, tc.written)
			}
		})
	}
}

func TestBindingConfiguration_Incomplete_IsNotWritten(t *testing.T) {
	withoutService := bindingConfiguration()
	withoutService.Webhooks[1].ClientConfig.Service = nil
	for name, tc := range map[string]struct {
		objects []runtime.Object
		want    string
	}{
		"no configuration":          {objects: []runtime.Object{certificateSecret("ca")}, want: "apply config/ again"},
		"no secret":                 {objects: []runtime.Object{bindingConfiguration()}, want: "reading the CA"},
		"no CA":                     {objects: []runtime.Object{bindingConfiguration(), certificateSecret("")}, want: "ca-cert.pem"},
		"a webhook without service": {objects: []runtime.Object{withoutService, certificateSecret("ca")}, want: "webhooks[1].clientConfig.service is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			b, client := newBindingAdmission(t, append(tc.objects, bindingTo("apps/v1", "Deployment"))...)
			err := b.Reconcile(t.Context(), binding.WebhookName)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
			if len(client.Actions()) > 0 {
				t.Errorf("it did %v", client.Actions())
			}
		})
	}
}

func TestBindingConfiguration_WriteFails_IsRetried(t *testing.T) {
	b, client := newBindingAdmission(t, bindingConfiguration(), certificateSecret("ca"))
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "mutatingwebhookconfigurations"}, binding.WebhookName, nil)
	client.PrependReactor("update", "mutatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, conflict })
	err := b.Reconcile(t.Context(), binding.WebhookName)
	if !apierrors.IsConflict(err) || controller.IsPermanentError(err) {
		t.Errorf("got error %v, want the conflict", err)
	}
}

func TestBindingConfiguration_NotLeading_IsNotWritten(t *testing.T) {
	b, client := newBindingAdmission(t, bindingConfiguration(), certificateSecret("ca"))
	b.Demote(reconciler.UniversalBucket())
	if err := b.Reconcile(t.Context(), binding.WebhookName); !controller.IsSkipKey(err) || len(client.Actions()) > 0 {
		t.Errorf("got error %v, and it did %v", err, client.Actions())
	}
}

// Package defaulting adds the empty status.
func TestDefaulting_AddressBinding(t *testing.T) {
	expectDefaulted(t, newDefaulting(t), kindOf("v1", "AddressBinding"), `{"metadata":{"namespace":"ns"},"spec":{"address":{"name":"a"}}}`,
		`{"metadata":{"namespace":"ns","finalizers":["samples.knative.dev/addressbinding"]},
			"spec":{"address":{"name":"a"},"subject":{"namespace":"ns"}},"status":{}}`)
}

// patched returns an object as the API server stores it after the defaulting webhook.
func patched(t *testing.T, response *admissionv1.AdmissionResponse, object string) any {
	t.Helper()
	if !response.Allowed {
		t.Fatalf("rejected: %v", response.Result)
	}
	result := []byte(object)
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			t.Fatal(err)
		}
		if result, err = patch.Apply(result); err != nil {
			t.Fatalf("the API server could not apply %s: %v", response.Patch, err)
		}
	}
	return decoded(t, string(result))
}

func decoded(t *testing.T, object string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(object), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// expectDefaulted expects the API server to store an object as want once it is created as sent.
func expectDefaulted(t *testing.T, impl *controller.Impl, kind metav1.GroupVersionKind, sent, want string) {
	t.Helper()
	if diff := cmp.Diff(decoded(t, want), patched(t, admit(t, impl, kind, sent), sent)); diff != "" {
		t.Errorf("%s of version %s (-want +got):\n%s", kind.Kind, kind.Version, diff)
	}
}
