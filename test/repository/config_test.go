/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// kinds are those that the operator is made of.
var kinds = []string{
	"ClusterRole", "ClusterRoleBinding", "ConfigMap", "CustomResourceDefinition", "Deployment", "MutatingWebhookConfiguration",
	"Namespace", "NetworkPolicy", "PodDisruptionBudget", "PriorityClass", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount",
	"ValidatingWebhookConfiguration",
}

// configObjects are the objects of config/ in the order of `ko apply -Rf config/`, which is that of file names, and after them those of the overlay hooks,
// which forks may lack.
func configObjects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	const hooks = "kustomize/overlays/hooks"
	objects := objectsBelow(t, "config")
	if _, err := os.Stat(filepath.Join(root, hooks)); err == nil { // a fork may have left it out
		objects = append(objects, objectsBelow(t, hooks)...)
	}
	return objects
}

// objectsBelow are those of a folder, in the order of file names.
func objectsBelow(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	config := os.DirFS(filepath.Join(root, folder))
	err := fs.WalkDir(config, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name)) {
			return err
		}
		content, err := fs.ReadFile(config, name)
		if err != nil {
			return err
		}
		parsed, err := manifest.Parse(content)
		objects = append(objects, parsed...)
		return err
	})
	if err != nil || len(objects) == 0 {
		t.Fatalf("reading %s/: %v (%d objects)", folder, err, len(objects))
	}
	return objects
}

// The folder config/ is applied as a whole, so that a sample or an overlay there would be installed with the operator.
func TestConfig_Files_AreOnlyTheOperator(t *testing.T) {
	for _, file := range files(t, "config") {
		if path.Dir(file) != "config" {
			t.Errorf("%s: config/ has folders, which `ko apply -Rf config/` applies with it", file)
		}
	}
	seen := map[string]bool{}
	for _, object := range configObjects(t) {
		name := manifest.Name(object, object.GetKind())
		if !slices.Contains(kinds, object.GetKind()) {
			t.Errorf("%s is not of a kind that the operator is made of", name)
		}
		if seen[name] {
			t.Errorf("%s is defined twice", name)
		}
		seen[name] = true
		expectLabels(t, name, object.GetLabels())
	}
}

func expectLabels(t *testing.T, name string, labels map[string]string) {
	t.Helper()
	for label, want := range map[string]string{"name": "mallard", "part-of": "mallard", "version": "devel"} {
		if got := labels["app.kubernetes.io/"+label]; got != want {
			t.Errorf("%s: label app.kubernetes.io/%s is %q, want %s: all of it is found by these, and a release writes its version there", name, label, got, want)
		}
	}
}

// ko and kubectl apply files in the order of their names, and continue after an error, so one run succeeds only if the names sort in the
// order of dependencies.
func TestConfig_FileOrder_SuitsAnEmptyCluster(t *testing.T) {
	there := map[string]bool{}
	need := func(object *unstructured.Unstructured, kind, namespace, name string) {
		if namespace != "" {
			name = namespace + "/" + name
		}
		if !there[kind+" "+name] {
			t.Errorf("%s comes before %s %s, or that is missing", manifest.Name(object, object.GetKind()), kind, name)
		}
	}
	for _, object := range configObjects(t) {
		namespace := object.GetNamespace()
		if namespace != "" {
			need(object, "Namespace", "", namespace)
		}
		text := func(fields ...string) string {
			value, _, err := unstructured.NestedString(object.Object, fields...)
			if err != nil {
				t.Errorf("%s: %v", manifest.Name(object, object.GetKind()), err)
			}
			return value
		}
		switch object.GetKind() {
		case "RoleBinding", "ClusterRoleBinding":
			roleNamespace := namespace
			if text("roleRef", "kind") == "ClusterRole" {
				roleNamespace = ""
			}
			need(object, text("roleRef", "kind"), roleNamespace, text("roleRef", "name"))
		case "Deployment":
			need(object, "ServiceAccount", namespace, text("spec", "template", "spec", "serviceAccountName"))
			need(object, "PriorityClass", "", text("spec", "template", "spec", "priorityClassName"))
			for _, name := range []string{"config-addressable", "config-leader-election", "config-logging", "config-observability"} {
				need(object, "ConfigMap", namespace, name)
			}
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			need(object, "Service", "knative-samples", "webhook")
		}
		there[manifest.Name(object, object.GetKind())] = true
	}
}

// TestToolchain_EveryModule_NamesTheSame lets CI, which installs the toolchain of go.mod, and releases be built by one patch version of Go.
func TestToolchain_EveryModule_NamesTheSame(t *testing.T) {
	toolchain := regexp.MustCompile(`(?m)^toolchain (go\d+\.\d+\.\d+)$`)
	want := toolchain.FindStringSubmatch(read(t, "go.mod"))
	if want == nil {
		t.Fatal("go.mod names no toolchain")
	}
	for _, path := range files(t, "go.mod", "*/go.mod") {
		// The control plane is not released, and each change of its go.mod triggers a rebuild on every machine.
		if strings.HasPrefix(path, "localcluster/") {
			continue
		}
		if got := toolchain.FindStringSubmatch(read(t, path)); got == nil || got[1] != want[1] {
			t.Errorf("%s names the toolchain %q, want %s as go.mod does", path, got, want[1])
		}
	}
}
