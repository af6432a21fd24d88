/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/manifest"
)

// kinds are those of the CRDs in config/, in lowercase.
func kinds(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "config", "300-*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("finding the CRDs: %v (%d)", err, len(paths))
	}
	for i, path := range paths {
		paths[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "300-"), ".yaml")
	}
	return paths
}

// To remove a kind, delete the files that are named after it. The others do not mention it, in any overlay, except for policies, and match conditions of
// webhooks, that are named after it, which concern no other kind.
// TestKind_ManifestsDeleted_RestCanBeApplied applies them.
func TestKind_ManifestsDeleted_RestDoesNotMentionIt(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			folder := without(t, kind)
			for _, overlay := range overlays {
				text := kubectl(t, localcluster(t), "/nowhere", "", "kustomize", filepath.Join(folder, "kustomize", "overlays", overlay))
				objects, err := manifest.Parse([]byte(text))
				if err != nil {
					t.Fatal(err)
				}
				for _, problem := range newInstallation(t, objects).remains(t, kind) {
					t.Errorf("overlay %s: %s", overlay, problem)
				}
			}
		})
	}
}

// remains are the objects that mention a kind, apart from other CRDs, and the bindings of roles that do not exist.
func (i *installation) remains(t *testing.T, kind string) []string {
	t.Helper()
	var problems []string
	for name, object := range i.objects {
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, webhook := range webhooks {
			fields := webhook.(map[string]any)
			conditions, _, _ := unstructured.NestedSlice(fields, "matchConditions")
			fields["matchConditions"] = slices.DeleteFunc(conditions, func(condition any) bool {
				return strings.HasPrefix(condition.(map[string]any)["name"].(string), kind+"-")
			})
		}
		if webhooks != nil {
			object = object.DeepCopy()
			object.Object["webhooks"] = webhooks
		}
		content, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		isPolicy := strings.Contains(object.GetKind(), "AdmissionPolicy") && strings.HasPrefix(object.GetName(), kind+"-")
		if object.GetKind() != "CustomResourceDefinition" && !isPolicy && strings.Contains(string(content), kind) {
			problems = append(problems, name+" mentions "+kind)
		}
		bound, ok := object.Object["roleRef"].(map[string]any)
		if !ok {
			continue
		}
		role := bound["kind"].(string) + " "
		if bound["kind"] == "Role" {
			role += object.GetNamespace() + "/"
		}
		if role += bound["name"].(string); i.objects[role] == nil {
			problems = append(problems, name+" binds "+role+", which does not exist")
		}
	}
	return problems
}

// without copies the manifests except for those that are named after a kind, and lists the rest as make generate does.
func without(t *testing.T, kind string) string {
	t.Helper()
	dir := manifests(t)
	own, err := filepath.Glob(filepath.Join(dir, "config", "*"+kind+"*"))
	if err != nil || len(own) < 2 {
		t.Fatalf("finding the files of %s: %v, %q", kind, err, own)
	}
	ofHooks, err := filepath.Glob(filepath.Join(dir, "kustomize", "overlays", "hooks", "*"+kind+"*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(own, ofHooks...) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(root, "hack", "update-kustomization.sh"), dir).CombinedOutput(); err != nil {
		t.Fatalf("listing the manifests: %v\n%s", err, out)
	}
	return dir
}
