/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// changes are the objects in which an overlay differs from config/: with + or - if only one of them has it.
func changes(t *testing.T, overlay string) []string {
	t.Helper()
	before, after := config(t).objects, rendered(t, overlay).objects
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
	want := []string{
		"~ Deployment knative-samples/controller", "~ Deployment knative-samples/hooks", "~ Deployment knative-samples/webhook",
		"~ PodDisruptionBudget knative-samples/controller", "~ PodDisruptionBudget knative-samples/hooks", "~ PodDisruptionBudget knative-samples/webhook",
	}
	if diff := cmp.Diff(want, changes(t, "ha")); diff != "" {
		t.Errorf("objects that the overlay changes (-want +got):\n%s", diff)
	}
	ha := rendered(t, "ha")
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

// limited are the changes by which what the accounts may do with objects in any namespace counts in one namespace.
func limited(t *testing.T) []string {
	t.Helper()
	changed := []string{"+ Role default/mallard-directory", "+ RoleBinding default/mallard-directory"}
	for name := range config(t).objects {
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
	want := append(limited(t), "- Namespace knative-samples-directory",
		"- Role knative-samples-directory/mallard-directory", "- RoleBinding knative-samples-directory/mallard-directory",
		"~ ConfigMap knative-samples/config-addressable",
		"~ Deployment knative-samples/controller", "~ Deployment knative-samples/hooks", "~ Deployment knative-samples/webhook",
		"~ MutatingWebhookConfiguration binding.webhook.samples.knative.dev",
		"~ MutatingWebhookConfiguration defaulting.webhook.samples.knative.dev",
		"~ ValidatingWebhookConfiguration validation.webhook.samples.knative.dev",
	)
	slices.Sort(want)
	if diff := cmp.Diff(want, changes(t, "single-namespace")); diff != "" {
		t.Errorf("objects that the overlay changes (-want +got):\n%s", diff)
	}
	single, before := rendered(t, "single-namespace"), config(t)
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
	dir := t.TempDir()
	for _, folder := range []string{"config", "kustomize/overlays/single-namespace"} {
		if err := os.CopyFS(filepath.Join(dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	overlay := filepath.Join(dir, "kustomize", "overlays", "single-namespace")
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
	for _, change := range limited(t) {
		if strings.HasPrefix(change, "+ ") {
			want++
		}
	}
	if got := strings.Count(text, ": orders\n"); got != want {
		t.Errorf("the namespace is named %d times in what is rendered, want %d", got, want)
	}
}

func TestOverlays_Each_IsAcceptedByTheAPIServer(t *testing.T) {
	for _, overlay := range overlays {
		t.Run(overlay, func(t *testing.T) {
			c := newCluster(t)
			for line := range strings.Lines(c.kubectl("apply", "--kustomize", "kustomize/overlays/"+overlay)) {
				if !strings.HasSuffix(line, " created\n") {
					t.Errorf("on an empty cluster kubectl apply says %q", line)
				}
			}
			for name, object := range rendered(t, overlay).objects {
				c.expectStored(name, object)
			}
			if overlay == "single-namespace" {
				c.expectRightsInOneNamespace()
			}
		})
	}
}

// expectStored expects the object under its name; what the API server makes of its fields is its own matter.
func (c *cluster) expectStored(name string, object *unstructured.Unstructured) {
	c.t.Helper()
	args := []string{"get", object.GroupVersionKind().GroupKind().String(), object.GetName(), "--output=name"}
	if object.GetNamespace() != "" {
		args = append(args, "--namespace", object.GetNamespace())
	}
	if out, err := c.try("", args...); err != nil {
		c.t.Errorf("%s does not exist: %s", name, out)
	}
}

// expectRightsInOneNamespace checks with the API server the permissions of the accounts of a single-namespace installation.
func (c *cluster) expectRightsInOneNamespace() {
	c.t.Helper()
	c.kubectl("create", "namespace", "other")
	c.awaitAggregation()
	for _, question := range []struct{ account, verb, resource, namespace, want string }{
		{"controller", "list", "addressableservices.samples.knative.dev", "default", "yes"},
		{"controller", "list", "addressableservices.samples.knative.dev", "other", "no"},
		{"controller", "list", "addressableservices.samples.knative.dev", "", "no"},
		{"controller", "update", "addressableservices.samples.knative.dev/status", "default", "yes"},
		{"controller", "update", "addressableservices.samples.knative.dev/status", "other", "no"},
		{"controller", "create", "pods", "default", "yes"},
		{"controller", "create", "pods", "other", "no"},
		{"controller", "watch", "pods", "", "no"},
		{"controller", "watch", "simpledeployments.samples.knative.dev", "default", "yes"},
		{"controller", "watch", "simpledeployments.samples.knative.dev", "", "no"},
		{"controller", "watch", "services", "default", "yes"},
		{"controller", "watch", "services", "", "no"},
		{"controller", "create", "services", "default", "yes"},
		{"controller", "create", "services", "other", "no"},
		{"controller", "create", "events", "default", "yes"},
		{"controller", "create", "events", "other", "no"},
		{"controller", "get", "configmaps", "knative-samples", "yes"},
		{"controller", "get", "configmaps", "default", "no"},
		{"controller", "watch", "customresourcedefinitions.apiextensions.k8s.io", "", "yes"},
		{"hooks", "watch", "services", "default", "yes"},
		{"hooks", "watch", "services", "other", "no"},
		{"hooks", "create", "addressableservices.samples.knative.dev", "default", "yes"},
		{"hooks", "create", "addressableservices.samples.knative.dev", "other", "no"},
		{"hooks", "create", "events", "default", "yes"},
		{"hooks", "create", "events", "other", "no"},
		{"controller", "watch", "namespaces", "", "yes"},
		{"webhook", "list", "secrets", "knative-samples", "yes"},
		{"webhook", "list", "secrets", "default", "no"},
		{"webhook", "list", "addressableservices.samples.knative.dev", "default", "no"},
	} {
		args := []string{"auth", "can-i", question.verb, question.resource, "--as=system:serviceaccount:knative-samples:" + question.account}
		if resource, subresource, ok := strings.Cut(question.resource, "/"); ok {
			args[3], args = resource, append(args, "--subresource="+subresource)
		}
		if question.namespace == "" {
			args = append(args, "--all-namespaces")
		} else {
			args = append(args, "--namespace", question.namespace)
		}
		out, _ := c.try("", args...) // it ends with 1 after a no
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if got := lines[len(lines)-1]; got != question.want {
			c.t.Errorf("may the %s %s %s in namespace %q: %s, want %s", question.account, question.verb, question.resource, question.namespace, got, question.want)
		}
	}
}
