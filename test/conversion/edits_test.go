/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// A manifest from a repository has no annotation. Replacing the live object with it must not lose properties that it cannot express.
func TestReplace_ManifestOfAnOlderVersion_KeepsTheRest(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, target)
	env.Apply(t, ns, full(ns, "subject"))
	// kubectl replaces the version that it has read, which must not change in between.
	env.Await(t, at(hub, ns, "subject"), harness.Ready)
	want := spec(t, env, at(hub, ns, "subject"))
	for version, manifest := range map[string]string{
		"v1alpha1": `{serviceName: target}`,
		"v1beta1":  `{ref: {apiVersion: v1, kind: Service, name: target}, port: 80, path: /path, exposure: External}`,
	} {
		_, err := env.TryKubectl(t, "apiVersion: samples.knative.dev/"+version+"\nkind: AddressableService\nmetadata: {name: subject}\nspec: "+manifest,
			"replace", "--namespace", ns, "--filename", "-")
		if err != nil {
			t.Fatal(err)
		}
		expectEqual(t, "spec at v1 after replacing at "+version, want, spec(t, env, at(hub, ns, "subject")))
	}
}

// An old copy of an object has an annotation from its time. It must not revert later changes.
func TestReplace_OldCopy_RestoresNothing(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, target)
	env.Apply(t, ns, full(ns, "subject"))
	ref := at("v1alpha1", ns, "subject")
	copied := get(t, env, ref)

	env.Patch(t, at(hub, ns, "subject"), `{"spec": {"path": "/new", "visibility": "ClusterLocal", "ports": [{"name": "https", "port": 443}]}}`)
	want := spec(t, env, ref)
	update(t, env, ref, func(o *unstructured.Unstructured) {
		o.SetAnnotations(copied.GetAnnotations())
		set(t, o, map[string]any{"serviceName": "target"}, "spec")
	})
	expectEqual(t, "spec at v1 after a PUT of the old copy", want, spec(t, env, ref))

	copied.SetManagedFields(nil)
	copied.SetResourceVersion("")
	copied.SetUID("")
	text, err := copied.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := env.TryKubectl(t, string(text), "apply", "--server-side", "--force-conflicts", "--filename", "-"); err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "spec at v1 after applying the old copy", want, spec(t, env, ref))
}
