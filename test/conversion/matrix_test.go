//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// targets holds the representation at each version of a reference to the Service web.
var targets = map[string]string{
	"v1alpha1": `{"serviceName": %q}`,
	"v1beta1":  `{"ref": {"apiVersion": "v1", "kind": "Service", "name": %q}}`,
	"v1":       `{"ref": {"apiVersion": "v1", "kind": "Service", "name": %q}}`,
}

// writes are the ways to write to an object, each of which sets its target, or its status.
var writes = map[string]func(t *testing.T, env *harness.Env, ref harness.Ref, spec, status string) error{
	"PUT": func(t *testing.T, env *harness.Env, ref harness.Ref, spec, _ string) error {
		t.Helper()
		return tryUpdate(t, env, ref, func(o *unstructured.Unstructured) { merge(t, o, "spec", spec) })
	},
	"merge patch": func(t *testing.T, env *harness.Env, ref harness.Ref, spec, _ string) error {
		t.Helper()
		_, err := client(env, ref).Patch(t.Context(), ref.Name, types.MergePatchType, []byte(`{"spec": `+spec+`}`), metav1.PatchOptions{})
		return err
	},
	"JSON patch": func(t *testing.T, env *harness.Env, ref harness.Ref, spec, _ string) error {
		t.Helper()
		var operations []map[string]any
		for field, value := range parse(t, spec) {
			operations = append(operations, map[string]any{"op": "add", "path": "/spec/" + field, "value": value})
		}
		patch, err := json.Marshal(operations)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client(env, ref).Patch(t.Context(), ref.Name, types.JSONPatchType, patch, metav1.PatchOptions{})
		return err
	},
	"apply": func(t *testing.T, env *harness.Env, ref harness.Ref, spec, _ string) error {
		t.Helper()
		return apply(t, env, ref, "m1", true, spec)
	},
	"PUT of the status": func(t *testing.T, env *harness.Env, ref harness.Ref, _, status string) error {
		t.Helper()
		return tryUpdate(t, env, ref, func(o *unstructured.Unstructured) { merge(t, o, "status", status) }, "status")
	},
	"apply of the status": func(t *testing.T, env *harness.Env, ref harness.Ref, _, status string) error {
		t.Helper()
		manifest := fmt.Sprintf(`{"apiVersion": "samples.knative.dev/%s", "kind": "AddressableService", "metadata": {"name": %q}, "status": %s}`,
			ref.Resource.Version, ref.Name, status)
		_, err := client(env, ref).Patch(t.Context(), ref.Name, types.ApplyPatchType, []byte(manifest),
			metav1.PatchOptions{FieldManager: "m2", Force: new(true)}, "status")
		return err
	},
}

// merge sets fields of the spec or the status.
func merge(t *testing.T, object *unstructured.Unstructured, part, text string) {
	t.Helper()
	for field, value := range parse(t, text) {
		set(t, object, value, part, field)
	}
}

// Whatever is stored, each way to write at each version leaves what that version cannot show, and is seen at each other one.
func TestConversion_EveryWriteAtEveryVersion_KeepsHiddenFields(t *testing.T) {
	t.Parallel()
	// Only the test writes.
	env := harness.Own(t, harness.AllVersions(), harness.WithReplicas("webhook", 1), harness.Without("controller"))
	ns := env.Namespace(t)
	n := 0
	for _, storage := range []string{"v1alpha1", hub} {
		fixtures.StoreAt(t, env, storage)
		for _, version := range versions {
			n++
			posted := fmt.Sprintf("posted-%d", n)
			object := foreign(posted)
			object.SetAPIVersion("samples.knative.dev/" + version)
			set(t, object, parse(t, fmt.Sprintf(targets[version], "web")), "spec")
			create(t, env, ns, object)
			expectEverywhere(t, env, ns, posted, "web", `{}`, 0)

			for way, write := range writes {
				n++
				name := fmt.Sprintf("subject-%d", n)
				object := foreign(name)
				set(t, object, parse(t, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "old"},
					"ports": [{"name": "a", "port": 1, "appProtocol": "grpc"}, {"name": "b"}], "path": "/p", "visibility": "Public", "publish": {"alias": "a"}}`), "spec")
				create(t, env, ns, object)
				if err := write(t, env, at(version, ns, name), fmt.Sprintf(targets[version], "web"), `{"observedGeneration": 7}`); err != nil {
					t.Errorf("%s at %s, stored at %s: %v", way, version, storage, err)
					continue
				}
				target, generation := "web", int64(0)
				if way == "PUT of the status" || way == "apply of the status" {
					target, generation = "old", 7
				}
				expectEverywhere(t, env, ns, name, target,
					`{"ports": [{"name": "a", "port": 1, "appProtocol": "grpc"}, {"name": "b"}], "path": "/p", "visibility": "Public", "publish": {"alias": "a"}}`, generation)
			}
		}
	}
	// Some of these are stored at one version, some at the other.
	for _, version := range versions {
		list, err := client(env, at(version, ns, "")).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != n {
			t.Errorf("listing %d objects at %s: %d, %v", n, version, len(list.Items), err)
		}
	}
	stored := env.StoredAt(t, at(hub, ns, "").Resource.GroupResource())
	if stored[hub] != n/2 || stored["v1alpha1"] != n/2 {
		t.Errorf("of %d objects there are stored %v, want a half at each version", n, stored)
	}
}

// expectEverywhere expects an object to have a target at every version, and at v1 the rest of a spec.
func expectEverywhere(t *testing.T, env *harness.Env, namespace, name, target, rest string, generation int64) {
	t.Helper()
	for _, version := range versions {
		object := get(t, env, at(version, namespace, name))
		want := parse(t, fmt.Sprintf(targets[version], target))
		spec, _, err := unstructured.NestedMap(object.Object, "spec")
		if err != nil {
			t.Fatal(err)
		}
		if version == hub {
			maps.Copy(want, parse(t, rest))
			if rest == "{}" {
				delete(spec, "visibility") // that is filled in at v1
			}
			expectEqual(t, "spec of "+name, want, spec)
		}
		for field, value := range want {
			expectEqual(t, fmt.Sprintf("%s of %s at %s", field, name, version), map[string]any{field: value}, map[string]any{field: spec[field]})
		}
		observed, _, err := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		if err != nil || observed != generation {
			t.Errorf("observedGeneration of %s at %s is %d, want %d (%v)", name, version, observed, generation, err)
		}
	}
}
