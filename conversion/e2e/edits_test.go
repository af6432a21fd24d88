/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// edit is one call of kubectl that changes an object.
type edit struct {
	// Version is that of the object that kubectl changes.
	Version string `json:"version"`
	// Command is the command of kubectl with its flags.
	Command string `json:"command"`
	// Editor is the command that kubectl edit calls as the editor.
	Editor string `json:"editor"`
	// Patch is the argument of kubectl patch.
	Patch json.RawMessage `json:"patch"`
	// Spec is the input of kubectl apply.
	Spec json.RawMessage `json:"spec"`
	// Changes are those of the spec at each version, as a JSON merge patch.
	Changes specs `json:"changes"`
}

// specs are a spec at both versions.
type specs struct {
	V1      json.RawMessage `json:"v1"`
	V1beta1 json.RawMessage `json:"v1beta1"`
}

// scenario is an object that is created at v1, and edited.
type scenario struct {
	Spec  specs  `json:"spec"`
	Edits []edit `json:"edits"`
}

func TestKubectl_EditsAtBothVersions_LoseNothing(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario in testdata: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var played scenario
		if err := yaml.UnmarshalStrict(content, &played); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for library := range webhooks {
			t.Run(library+"/"+strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
				env := install(t)
				o := object{group: groupOf(library), namespace: env.Namespace(t)}
				want := played.Spec
				mustKubectl(t, env, o.manifest("v1", want.V1), "apply", "-n", o.namespace, "-f", "-")
				o.expect(t, env, "after it was created", want)
				for _, each := range played.Edits {
					o.edit(t, env, each)
					want = specs{V1: merged(t, want.V1, each.Changes.V1), V1beta1: merged(t, want.V1beta1, each.Changes.V1beta1)}
					o.expect(t, env, "after kubectl "+each.Command+" at "+each.Version, want)
				}
			})
		}
	}
}

// object is the object that a test edits.
type object struct{ group, namespace string }

func (o *object) manifest(version string, spec json.RawMessage) string {
	return `{"apiVersion": "` + o.group + "/" + version + `", "kind": "Task", "metadata": {"name": "subject"}, "spec": ` + string(spec) + "}"
}

// at returns the arguments of kubectl that name the object at a version.
func (o *object) at(version string) []string {
	return []string{"-n", o.namespace, "tasks." + version + "." + o.group, "subject"}
}

func (o *object) edit(t *testing.T, env *harness.Env, made edit) {
	t.Helper()
	args, input := strings.Fields(made.Command), ""
	switch {
	case made.Spec != nil:
		args, input = append(args, "-n", o.namespace, "-f", "-"), o.manifest(made.Version, made.Spec)
	case made.Patch != nil:
		args = append(append(args, o.at(made.Version)...), "--patch", string(made.Patch))
	default:
		t.Setenv("KUBE_EDITOR", made.Editor)
		args = append(args, o.at(made.Version)...)
	}
	mustKubectl(t, env, input, args...)
}

// expect compares the spec at both versions.
func (o *object) expect(t *testing.T, env *harness.Env, when string, want specs) {
	t.Helper()
	for version, want := range map[string]json.RawMessage{"v1": want.V1, "v1beta1": want.V1beta1} {
		resource := schema.GroupVersionResource{Group: o.group, Version: version, Resource: "tasks"}
		live, err := env.Dynamic.Resource(resource).Namespace(o.namespace).Get(t.Context(), "subject", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var wanted any
		if err := utiljson.Unmarshal(want, &wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, live.Object["spec"]); diff != "" {
			t.Errorf("the spec at %s %s (-want +got):\n%s", version, when, diff)
		}
	}
}

// merged applies a JSON merge patch, if any.
func merged(t *testing.T, to, patch json.RawMessage) json.RawMessage {
	t.Helper()
	if patch == nil {
		return to
	}
	result, err := jsonpatch.MergePatch(to, patch)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
