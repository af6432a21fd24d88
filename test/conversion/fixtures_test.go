/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// TestMain has every kubectl that is started use an editor that shortens many x in a row, and leaves a comment. The
// variable is set for all tests because they run in parallel.
func TestMain(m *testing.M) {
	if err := os.Setenv("KUBE_EDITOR", `sed -i -e "s/xxxx.*xxxx/x/" -e "\$a # seen"`); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	harness.Main(m, harness.AllVersions())
}

// hub is the version that is stored.
const hub = "v1"

// old are the versions other than the hub, and versions all of them.
var (
	old      = []string{"v1alpha1", "v1beta1"}
	versions = append([]string{hub}, old...)
)

// target is a Service with two ports.
const target = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec:
  ports: [{name: http, port: 80}, {name: https, port: 443}]
`

// full is an AddressableService of v1 with everything set but the namespace of its target: as long as that is left out,
// v1alpha1 has a name for the target. Its alias is one that no other test takes.
func full(namespace, name string) string {
	return fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: %s
  labels: {color: green}
  annotations: {example.com/note: kept}
spec:
  ref: {apiVersion: v1, kind: Service, name: target}
  ports:
    - {name: http, port: 80, appProtocol: kubernetes.io/h2c}
    - {name: https, port: 443, appProtocol: https}
  path: /path
  visibility: Public
  publish: {alias: %s}
`, name, alias(namespace, name))
}

func alias(namespace, name string) string { return name + "-" + namespace[len(namespace)-5:] }

// plain is an AddressableService of v1 with little set.
func plain(name string) string {
	return fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: %s}
spec: {ref: {apiVersion: v1, kind: Service, name: target}}
`, name)
}

// at is an AddressableService at a version.
func at(version, namespace, name string) harness.Ref {
	return harness.Ref{
		Resource:  schema.GroupVersionResource{Group: samples.GroupName, Version: version, Resource: "addressableservices"},
		Namespace: namespace, Name: name,
	}
}

func client(env *harness.Env, ref harness.Ref) dynamic.ResourceInterface {
	return env.Dynamic.Resource(ref.Resource).Namespace(ref.Namespace)
}

// get reads an object.
func get(t *testing.T, env *harness.Env, ref harness.Ref) *unstructured.Unstructured {
	t.Helper()
	object, err := client(env, ref).Get(t.Context(), ref.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading %s at %s: %v", ref, ref.Resource.Version, err)
	}
	return object
}

// update reads an object, changes it and writes it back as a whole, until no other client has written it in between.
func update(t *testing.T, env *harness.Env, ref harness.Ref, change func(*unstructured.Unstructured), subresources ...string) {
	t.Helper()
	if err := tryUpdate(t, env, ref, change, subresources...); err != nil {
		t.Fatalf("writing %s at %s: %v", ref, ref.Resource.Version, err)
	}
}

// tryUpdate is update for what the API server may reject.
func tryUpdate(t *testing.T, env *harness.Env, ref harness.Ref, change func(*unstructured.Unstructured), subresources ...string) error {
	t.Helper()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object := get(t, env, ref)
		change(object)
		_, err := client(env, ref).Update(t.Context(), object, metav1.UpdateOptions{}, subresources...)
		return err
	})
}

// set sets a field.
func set(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// spec is the spec of an object at v1, to be compared.
func spec(t *testing.T, env *harness.Env, ref harness.Ref) map[string]any {
	t.Helper()
	ref.Resource.Version = hub
	found, _, err := unstructured.NestedMap(get(t, env, ref).Object, "spec")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// expectSpec expects what v1 shows.
func expectSpec(t *testing.T, env *harness.Env, ref harness.Ref, want string) {
	t.Helper()
	var wanted map[string]any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "spec at v1", wanted, spec(t, env, ref))
}

// expectEqual compares two objects as JSON.
func expectEqual(t *testing.T, what string, want, got map[string]any) {
	t.Helper()
	if diff := cmp.Diff(normal(t, want), normal(t, got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// normal makes all numbers of one type.
func normal(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	again := map[string]any{}
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return again
}

// stored is an object as it lies in etcd, taken apart.
func stored(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// withoutTraces is an object in etcd without the traces of kubectl: the applied manifest, and the field manager.
func withoutTraces(t *testing.T, text string) map[string]any {
	t.Helper()
	object := stored(t, text)
	object.SetManagedFields(nil)
	annotations := maps.Clone(object.GetAnnotations())
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	object.SetAnnotations(annotations)
	return object.Object
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// foreign is an object of v1 that only the test writes to, for it is of another class.
func foreign(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "target"},
	}}}
	object.SetAPIVersion("samples.knative.dev/v1")
	object.SetKind("AddressableService")
	object.SetName(name)
	object.SetAnnotations(map[string]string{"samples.knative.dev/addressableservice.class": "other"})
	return object
}

func create(t *testing.T, env *harness.Env, namespace string, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	made, err := client(env, at(object.GroupVersionKind().Version, namespace, "")).Create(t.Context(), object, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("creating %s: %v", object.GetName(), err)
	}
	return made
}
