/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const fullStatus = `{
	"observedGeneration": 3,
	"annotations": {"a": "1"},
	"conditions": [
		{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
		{"type": "Zebra", "status": "False", "severity": "Info", "reason": "Striped", "message": "It has stripes.", "lastTransitionTime": "2026-01-02T00:00:00Z"},
		{"type": "example.com/Ant", "status": "Unknown", "lastTransitionTime": "2026-01-03T00:00:00Z"}
	],
	"address": {"name": "https", "url": "https://a/", "CACerts": "pem", "audience": "me"},
	"addresses": [{"name": "https", "url": "https://a/", "CACerts": "pem", "audience": "me"}, {"name": "http", "url": "http://a/"}]
}`

func status(t *testing.T, env *harness.Env, ref harness.Ref) map[string]any {
	t.Helper()
	found, _, err := unstructured.NestedMap(get(t, env, ref).Object, "status")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestStatus_ConditionsAndAnnotations_SurviveEveryVersion(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	create(t, env, ns, foreign("subject", nil))
	update(t, env, at(hub, ns, "subject"), func(o *unstructured.Unstructured) { set(t, o, parse(t, fullStatus), "status") }, "status")
	for _, version := range old {
		ref := at(version, ns, "subject")
		want := parse(t, fullStatus)
		delete(want, "addresses")
		expectEqual(t, "status at "+version, want, status(t, env, ref))
		// Written back unchanged, nothing changes; with another message, that does.
		update(t, env, ref, func(*unstructured.Unstructured) {}, "status")
		expectEqual(t, "status at v1 after it was written back at "+version, parse(t, fullStatus), status(t, env, at(hub, ns, "subject")))
		update(t, env, ref, func(o *unstructured.Unstructured) {
			conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
			conditions[1].(map[string]any)["message"] = "Edited at " + version + "."
			set(t, o, conditions, "status", "conditions")
		}, "status")
		want = parse(t, fullStatus)
		want["conditions"].([]any)[1].(map[string]any)["message"] = "Edited at " + version + "."
		expectEqual(t, "status at v1 after an edit at "+version, want, status(t, env, at(hub, ns, "subject")))
		update(t, env, at(hub, ns, "subject"), func(o *unstructured.Unstructured) { set(t, o, parse(t, fullStatus), "status") }, "status")
	}
}

// The stashed addresses belong to the address that they were stashed with.
func TestStatus_AddressChangedAtAnOlderVersion_LeavesNoStaleAddresses(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for _, version := range old {
		name := "subject-" + version
		object := foreign(name, nil)
		set(t, object, parse(t, `{"ref": {"apiVersion": "v1", "kind": "Service", "name": "target"}, "path": "/p", "visibility": "Public"}`), "spec")
		create(t, env, ns, object)
		hubRef := at(hub, ns, name)
		update(t, env, hubRef, func(o *unstructured.Unstructured) { set(t, o, parse(t, fullStatus), "status") }, "status")
		before := spec(t, env, hubRef)

		patch := []byte(`{"status": {"address": {"name": "https", "url": "https://b/"}}}`)
		if _, err := client(env, at(version, ns, name)).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
		got := status(t, env, hubRef)
		if addresses, ok := got["addresses"]; ok {
			t.Errorf("after another address was written at %s there are still %v", version, addresses)
		}
		expectEqual(t, "address at v1", parse(t, `{"name": "https", "url": "https://b/", "CACerts": "pem", "audience": "me"}`), got["address"].(map[string]any))
		expectEqual(t, "spec at v1", before, spec(t, env, hubRef))
	}
}
