/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

func TestOverlays_Each_IsTested(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(root, "kustomize", "overlays"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if diff := cmp.Diff(overlays, names); diff != "" {
		t.Errorf("the overlays that are tested and those that there are (-tested +there):\n%s", diff)
	}
}

// There is one source: the base lists all of config/, and kustomize changes nothing by itself.
func TestOverlays_Default_EqualsConfig(t *testing.T) {
	if diff := cmp.Diff(config(t).objects, rendered(t, "default").objects); diff != "" {
		t.Errorf("the overlay default differs from config/ (-config +default):\n%s", diff)
	}
}

func TestOverlays_AllVersions_ServesEachVersion(t *testing.T) {
	all := config(t).objects
	if err := manifest.ServeAllVersions(slices.Collect(maps.Values(all))); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, rendered(t, "all-versions").objects); diff != "" {
		t.Errorf("the overlay differs from config/ with all versions served (-config +all-versions):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"~ CustomResourceDefinition " + crdName}, changes(t, "all-versions")); diff != "" {
		t.Errorf("objects that the overlay changes (-want +got):\n%s", diff)
	}
}

// The overlay adds the manifests of its folder and changes none, so that the folder can also be applied and deleted by itself.
func TestOverlays_Hooks_OnlyAddsTheManifestsOfItsFolder(t *testing.T) {
	want := config(t).objects
	added, err := manifest.ReadDir(filepath.Join(root, folderOf(t, "hooks")))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range added {
		name := manifest.Name(object, object.GetKind())
		if want[name] != nil {
			t.Errorf("config/ contains %s, too", name)
		}
		want[name] = object
	}
	if diff := cmp.Diff(want, rendered(t, "hooks").objects); diff != "" {
		t.Errorf("the overlay differs from config/ and its own manifests (-manifests +hooks):\n%s", diff)
	}
}

// baseOf is the installation that an overlay changes.
func baseOf(t *testing.T, installation string) *installation {
	t.Helper()
	if _, base, ok := strings.Cut(installation, "+"); ok {
		return rendered(t, base)
	}
	return config(t)
}

// changes are the objects in which an installation differs from its base: with + or - if only one of them has it.
func changes(t *testing.T, overlay string) []string {
	t.Helper()
	before, after := baseOf(t, overlay).objects, rendered(t, overlay).objects
	var changed []string
	for name := range before {
		if after[name] == nil {
			changed = append(changed, "- "+name)
		} else if !cmp.Equal(before[name], after[name]) {
			changed = append(changed, "~ "+name)
		}
	}
	for name := range maps.Keys(after) {
		if before[name] == nil {
			changed = append(changed, "+ "+name)
		}
	}
	slices.Sort(changed)
	return changed
}

func TestOverlays_HA_HasThreeReplicasOfWhichTwoStay(t *testing.T) {
	for _, installation := range []string{"ha", "ha+hooks"} {
		var want []string
		for name := range baseOf(t, installation).deployments {
			want = append(want, "~ Deployment knative-samples/"+name, "~ PodDisruptionBudget knative-samples/"+name)
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, changes(t, installation)); diff != "" {
			t.Errorf("objects that %s changes (-want +got):\n%s", installation, diff)
		}
		ha := rendered(t, installation)
		for name, d := range ha.deployments {
			if *d.Spec.Replicas != 3 {
				t.Errorf("%s has %d replicas, want 3", name, *d.Spec.Replicas)
			}
			var strict []string
			for _, c := range d.Spec.Template.Spec.TopologySpreadConstraints {
				if c.WhenUnsatisfiable == "DoNotSchedule" {
					strict = append(strict, c.TopologyKey)
				}
			}
			if diff := cmp.Diff([]string{"kubernetes.io/hostname"}, strict); diff != "" {
				t.Errorf("%s: spread that is insisted on (-want +got):\n%s", name, diff)
			}
		}
		for _, b := range ha.budgets {
			if b.Spec.MaxUnavailable != nil || b.Spec.MinAvailable == nil || b.Spec.MinAvailable.IntValue() != 2 {
				t.Errorf("budget %s: %v of %v may be away, want two to stay", b.Name, b.Spec.MaxUnavailable, b.Spec.MinAvailable)
			}
		}
	}
}

// TestOverlays_NoWebhooks_HasPoliciesInPlaceOfTheWebhook compares the overlay with config/, in which all objects of the webhook have a name or a label.
func TestOverlays_NoWebhooks_HasPoliciesInPlaceOfTheWebhook(t *testing.T) {
	const emptied = "MutatingWebhookConfiguration binding.webhook.samples.knative.dev"
	want := []string{"~ CustomResourceDefinition " + crdName, "~ " + emptied}
	for name, object := range config(t).objects {
		own := object.GetLabels()["app.kubernetes.io/component"] == "webhook" || regexp.MustCompile(`webhook(-cluster|-certs)?$`).MatchString(name)
		if own && name != emptied {
			want = append(want, "- "+name)
		}
	}
	for _, policy := range []string{"addressableservice-create", "addressableservice-update", "addressbinding-defaults"} {
		want = append(want, "+ MutatingAdmissionPolicy "+policy+".samples.knative.dev", "+ MutatingAdmissionPolicyBinding "+policy+".samples.knative.dev")
	}
	for _, policy := range []string{"addressableservice-rules", "addressableservice-warnings", "addressbinding-rules"} {
		want = append(want, "+ ValidatingAdmissionPolicy "+policy+".samples.knative.dev", "+ ValidatingAdmissionPolicyBinding "+policy+".samples.knative.dev")
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, changes(t, withoutWebhook)); diff != "" {
		t.Errorf("objects that the overlay changes (-want +got):\n%s", diff)
	}
	for name, object := range rendered(t, withoutWebhook).objects {
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		if len(webhooks) > 0 || strings.Contains(string(text), `"service":`) {
			t.Errorf("the API server calls a webhook for %s: %s", name, text)
		}
		if object.GetLabels()["app.kubernetes.io/part-of"] != "mallard" {
			t.Errorf("%s has the labels %v", name, object.GetLabels())
		}
	}
}

// limited are the changes by which what the accounts may do with objects in any namespace counts in one namespace.
func limited(t *testing.T, installation string) []string {
	t.Helper()
	changed := []string{"+ Role default/mallard-directory", "+ RoleBinding default/mallard-directory"}
	for name := range baseOf(t, installation).objects {
		kind, role, _ := strings.Cut(name, " ")
		inNamespaces := role == "mallard-controller" || strings.HasPrefix(role, "mallard-") && role != "mallard-webhook" &&
			slices.ContainsFunc([]string{"-controller", "-hooks", "-webhook"}, func(suffix string) bool { return strings.HasSuffix(role, suffix) })
		if inNamespaces && (kind == "ClusterRole" || kind == "ClusterRoleBinding") || kind == "ClusterRoleBinding" && strings.HasPrefix(role, "mallard-controller-") {
			changed = append(changed, "- "+name, "+ "+strings.TrimPrefix(kind, "Cluster")+" default/"+role)
		}
	}
	return changed
}

func TestOverlays_SingleNamespace_ChangesOnlyPermissions(t *testing.T) {
	for _, installation := range []string{"single-namespace", "single-namespace+hooks"} {
		t.Run(installation, func(t *testing.T) { expectOneNamespace(t, installation) })
	}
}

func expectOneNamespace(t *testing.T, installation string) {
	t.Helper()
	single, before := rendered(t, installation), baseOf(t, installation)
	want := append(limited(t, installation), "- Namespace knative-samples-directory",
		"- Role knative-samples-directory/mallard-directory", "- RoleBinding knative-samples-directory/mallard-directory",
		"~ ConfigMap knative-samples/config-addressable",
		"~ MutatingWebhookConfiguration binding.webhook.samples.knative.dev",
		"~ MutatingWebhookConfiguration defaulting.webhook.samples.knative.dev",
		"~ ValidatingWebhookConfiguration validation.webhook.samples.knative.dev",
	)
	for name := range before.deployments {
		want = append(want, "~ Deployment knative-samples/"+name)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, changes(t, installation)); diff != "" {
		t.Errorf("objects that the overlay changes (-want +got):\n%s", diff)
	}
	for name := range before.objects {
		if role, ok := strings.CutPrefix(name, "ClusterRole "); ok && single.objects[name] == nil {
			if diff := cmp.Diff(before.objects[name].Object["rules"], single.objects["Role default/"+role].Object["rules"]); diff != "" {
				t.Errorf("Role %s allows something else than the ClusterRole (-before +after):\n%s", role, diff)
			}
		}
	}
	for from, to := range map[string]string{
		"ClusterRole mallard-controller":                   "Role default/mallard-controller",
		"Role knative-samples-directory/mallard-directory": "Role default/mallard-directory",
		"ClusterRole mallard-addressable-resolver":         "ClusterRole mallard-addressable-resolver",
		"Role knative-samples/controller":                  "Role knative-samples/controller",
		"ConfigMap knative-samples/config-observability":   "ConfigMap knative-samples/config-observability",
		"NetworkPolicy knative-samples/default-deny":       "NetworkPolicy knative-samples/default-deny",
		"ServiceAccount knative-samples/controller":        "ServiceAccount knative-samples/controller",
		"PodDisruptionBudget knative-samples/webhook":      "PodDisruptionBudget knative-samples/webhook",
		"Service knative-samples/webhook-metrics":          "Service knative-samples/webhook-metrics",
		"Secret knative-samples/webhook-certs":             "Secret knative-samples/webhook-certs",
		"PriorityClass mallard":                            "PriorityClass mallard",
		"ClusterRole mallard-webhook":                      "ClusterRole mallard-webhook",
		"CustomResourceDefinition " + crdName:              "CustomResourceDefinition " + crdName,
	} {
		if diff := cmp.Diff(before.objects[from].Object["rules"], single.objects[to].Object["rules"]); diff != "" {
			t.Errorf("%s allows something else than %s (-before +after):\n%s", to, from, diff)
		}
	}
}

const crdName = "addressableservices.samples.knative.dev"

// The namespace is written once, in watched.yaml, and reaches every place.
func TestOverlays_SingleNamespace_IsNamedOnce(t *testing.T) {
	const installation = "single-namespace+hooks"
	overlay := folderOf(t, installation)
	path := filepath.Join(overlay, "watched.yaml")
	content, err := os.ReadFile(path)
	if err != nil || strings.Count(string(content), "namespace: default") != 1 {
		t.Fatalf("%s does not name the namespace once: %v\n%s", path, err, content)
	}
	changed := strings.Replace(string(content), "namespace: default", "namespace: orders", 1)
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	text := kubectl(t, localcluster(t), "/nowhere", "", "kustomize", overlay)
	for _, left := range []string{"filled-below", "namespace: default", "value: default\n", "name: default\n"} {
		if strings.Contains(text, left) {
			t.Errorf("%q is left in what is rendered for the namespace orders", left)
		}
	}
	// Roles and bindings, the directory, three variables, four selectors.
	want := 8
	for _, change := range limited(t, installation) {
		if strings.HasPrefix(change, "+ ") {
			want++
		}
	}
	if got := strings.Count(text, ": orders\n"); got != want {
		t.Errorf("the namespace is named %d times in what is rendered, want %d", got, want)
	}
}

// TestOverlays_EachObject_IsAcceptedByTheAPIServer creates each object without storing it. One that exists is validated before the API server
// reports that.
func TestOverlays_EachObject_IsAcceptedByTheAPIServer(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	client, err := dynamic.NewForConfig(strict(t, env))
	if err != nil {
		t.Fatal(err)
	}
	for _, overlay := range installations {
		for name, object := range rendered(t, overlay).objects {
			if strings.HasPrefix(object.GetKind(), "MutatingAdmissionPolicy") {
				continue // TestOverlays_Each_IsAcceptedByTheAPIServer creates it at a version of Kubernetes that has the kind
			}
			ref := env.Ref(t, "", object)
			_, err := client.Resource(ref.Resource).Namespace(ref.Namespace).Create(t.Context(), object, metav1.CreateOptions{
				DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
			})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				t.Errorf("overlay %s: %s is rejected: %v", overlay, name, err)
			}
		}
	}
}
