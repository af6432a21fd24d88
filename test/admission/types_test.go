/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// others are values of each type of a schema's.
var others = map[string]any{
	"string": "text", "integer": int64(1), "number": 1.5, "boolean": true, "array": []any{}, "object": map[string]any{},
}

func TestSchema_ValuesOfOtherTypes_AreRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for version, schema := range schemas(t) {
		fields := map[string]string{}
		collectTypes(t, schema, "", fields)
		for path, typ := range fields {
			t.Run(version+" "+path, func(t *testing.T) {
				t.Parallel()
				for other, value := range others {
					if other != typ {
						checkRejectedFor(t, env, objectAt(version, ns, set(path, value)), path)
					}
				}
			})
		}
	}
}

// The greatest number that fits is no good port either.
func TestSchema_NumbersOutOfRange_AreRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for version, path := range map[string]string{hub: "spec.ports.0.port", "v1beta1": "spec.port"} {
		checkRejectedFor(t, env, objectAt(version, ns, set(path, int64(1)<<31)), path)
	}
}

// TestSchema_IntegersWrittenAsFractions_AreStoredAsIntegers sends JSON as it is, which other clients parse first.
func TestSchema_IntegersWrittenAsFractions_AreStoredAsIntegers(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	env.ExpectErrors(t, "cannot unmarshal number 80.5") // the object is converted before the schema is applied
	ns := env.Namespace(t)
	object, err := tryCreate(t, env, objectAt("v1beta1", ns))
	if err != nil {
		t.Fatal(err)
	}
	for number, accepted := range map[string]bool{"80.0": true, "8e1": true, "80.5": false} {
		changed, err := servicesAt("v1beta1", env, ns).Patch(t.Context(), object.GetName(), types.MergePatchType,
			[]byte(`{"spec": {"port": `+number+`}}`), metav1.PatchOptions{})
		if accepted && (err != nil || !strings.Contains(specOf(changed), `"port":80`)) || !accepted && (err == nil || !strings.Contains(err.Error(), "spec.port")) {
			t.Errorf("port %s: got error %v and %v, want it accepted: %t", number, err, changed, accepted)
		}
	}
}

// checkRejectedFor checks that an object is rejected for the value at a path.
func checkRejectedFor(t *testing.T, env *harness.Env, bad *unstructured.Unstructured, path string) {
	t.Helper()
	parent, last := parentOf(bad.Object, path)
	_, err := tryCreate(t, env, bad)
	// The words of the schema, not those of Go's decoder: the defaulting webhook is called first.
	if name := strings.ReplaceAll(path, ".0", "[0]") + " in body "; err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("%s: %v as %s: got error %v, want one that says %q", versionOf(bad), parent[last], path, err, name)
	}
}

// collectTypes adds the types of the fields of a schema to found, by the path of the field in the first item of a list.
func collectTypes(t *testing.T, schema map[string]any, path string, found map[string]string) {
	t.Helper()
	if path != "" {
		found[path] = as[string](schema["type"])
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for name, property := range properties {
			collectTypes(t, as[map[string]any](property), strings.TrimPrefix(path+"."+name, "."), found)
		}
	}
	if items, ok := schema["items"].(map[string]any); ok {
		// The item itself is set through the list that holds it.
		delete(items, "type")
		for name, property := range as[map[string]any](items["properties"]) {
			collectTypes(t, as[map[string]any](property), path+".0."+name, found)
		}
	}
}
