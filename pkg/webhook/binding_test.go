/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

func TestTheAPIServerIsAskedAboutTheKindsOfBindings(t *testing.T) {
	pending := func(definition *apiextensionsv1.CustomResourceDefinition) { definition.Status.Conditions = nil }
	clusterScoped := func(definition *apiextensionsv1.CustomResourceDefinition) {
		definition.Spec.Scope = apiextensionsv1.ClusterScoped
	}
	for name, tc := range map[string]struct {
		reason  string
		objects []runtime.Object
		want    []string
	}{
		"no binding": {reason: "There is nothing to ask about.", want: []string{}},
		"built-in":   {reason: "Nobody is asked about scale or status.", objects: []runtime.Object{bindingTo("apps/v1", "Deployment")}, want: []string{"apps/v1/deployments"}},
		"two of a kind": {
			reason:  "One rule does.",
			objects: []runtime.Object{bindingTo("apps/v1", "Deployment"), bindingTo("apps/v1", "Deployment", func(b *v1.AddressBinding) { b.Name = "other" })},
			want:    []string{"apps/v1/deployments"},
		},
		"several kinds": {
			reason:  "They are in an order.",
			objects: []runtime.Object{bindingTo("batch/v1", "CronJob"), bindingTo("example.com/v1", "Radius"), bindingTo("apps/v1", "StatefulSet"), crd("Radius", "radii")},
			want:    []string{"apps/v1/statefulsets", "batch/v1/cronjobs", "example.com/v1/radii"},
		},
		"a kind that is not there":   {reason: "Others are not kept from theirs.", objects: []runtime.Object{bindingTo("example.com/v1", "Radius"), bindingTo("batch/v1", "Job")}, want: []string{"batch/v1/jobs"}},
		"a kind that is not yet":     {reason: "It has no objects.", objects: []runtime.Object{bindingTo("example.com/v1", "Radius"), crd("Radius", "radii", pending)}, want: []string{}},
		"a version that is not":      {reason: "The API server would not take it.", objects: []runtime.Object{bindingTo("apps/v2", "Deployment")}, want: []string{}},
		"no version":                 {reason: "It is no reference.", objects: []runtime.Object{bindingTo("a/b/c", "Deployment")}, want: []string{}},
		"of no namespace":            {reason: "Bindings are for their namespace.", objects: []runtime.Object{bindingTo("example.com/v1", "Radius"), crd("Radius", "radii", clusterScoped)}, want: []string{}},
		"no place for variables":     {reason: "A binding must not delay secrets.", objects: []runtime.Object{bindingTo("v1", "Secret"), bindingTo("v1", "Node")}, want: []string{}},
		"a binding that is deleted":  {reason: "It gives nothing any more.", objects: []runtime.Object{bindingTo("apps/v1", "Deployment", goingBinding)}, want: []string{}},
		"a binding with nothing yet": {reason: "It is about to have.", objects: []runtime.Object{bindingTo("apps/v1", "Deployment", func(b *v1.AddressBinding) { b.Status.Value, b.Status.Bound = "", nil })}, want: []string{"apps/v1/deployments"}},
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

func TestTheConfigurationOfBindingsIsWrittenOnlyWhereItDiffers(t *testing.T) {
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

func TestWhatKeepsTheConfigurationOfBindingsFromBeingWritten(t *testing.T) {
	withoutService := bindingConfiguration()
	withoutService.Webhooks[1].ClientConfig.Service = nil
	for name, tc := range map[string]struct {
		objects []runtime.Object
		// want is in the error; empty means that there is none, because somebody will wake us.
		want string
	}{
		"no configuration":          {objects: []runtime.Object{certificateSecret("ca")}},
		"no secret":                 {objects: []runtime.Object{bindingConfiguration()}},
		"no CA":                     {objects: []runtime.Object{bindingConfiguration(), certificateSecret("")}},
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

func TestAWriteThatFailsIsRetried(t *testing.T) {
	b, client := newBindingAdmission(t, bindingConfiguration(), certificateSecret("ca"))
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "mutatingwebhookconfigurations"}, binding.WebhookName, nil)
	client.PrependReactor("update", "mutatingwebhookconfigurations", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, conflict })
	err := b.Reconcile(t.Context(), binding.WebhookName)
	if !apierrors.IsConflict(err) || controller.IsPermanentError(err) {
		t.Errorf("got error %v, want the conflict", err)
	}
}

var errDiscovery = errors.New("discovery is down")

// Otherwise a single group that is down would keep every other new binding from working.
func TestBindingRules_DiscoveryOfAKindFails_OthersAreWritten(t *testing.T) {
	b, client := newBindingAdmission(t, bindingConfiguration(), certificateSecret("ca"), bindingTo("down.example.com/v1", "Goose"), bindingTo("example.com/v1", "Radius"), crd("Radius", "radii"))
	b.discovery.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errDiscovery })
	if err := b.Reconcile(t.Context(), binding.WebhookName); err != nil {
		t.Error(err)
	}
	if got := written(t, client.Actions()); got == nil || cmp.Diff([]string{"example.com/v1/radii"}, rulesOf(got.Webhooks[0])) != "" {
		t.Errorf("written was %+v", got)
	}
}

func TestARuleStaysWhileItsKindCannotBeLookedUp(t *testing.T) {
	present := bindingConfiguration()
	for i := range present.Webhooks {
		present.Webhooks[i].Rules = rulesFor([]schema.GroupVersionResource{
			{Group: "down.example.com", Version: "v1", Resource: "geese"}, {Group: "gone.example.com", Version: "v1", Resource: "swans"},
		})
	}
	b, client := newBindingAdmission(t, present, certificateSecret("ca"), bindingTo("down.example.com/v1", "Goose"))
	b.discovery.PrependReactor("get", "resource", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errDiscovery })
	if err := b.Reconcile(t.Context(), binding.WebhookName); err != nil {
		t.Error(err)
	}
	if got := written(t, client.Actions()); got == nil || cmp.Diff([]string{"down.example.com/v1/geese"}, rulesOf(got.Webhooks[0])) != "" {
		t.Errorf("written was %+v", got)
	}
}

func TestOnlyTheLeaderWritesTheConfigurationOfBindings(t *testing.T) {
	b, client := newBindingAdmission(t, bindingConfiguration(), certificateSecret("ca"))
	b.Demote(reconciler.UniversalBucket())
	if err := b.Reconcile(t.Context(), binding.WebhookName); !controller.IsSkipKey(err) || len(client.Actions()) > 0 {
		t.Errorf("got error %v, and it did %v", err, client.Actions())
	}
}
