/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/manifest"
	"github.com/mallard-dev/mallard/pkg/migration"
)

func TestMain(m *testing.M) { harness.Main(m) }

// soon tries as often as a migration usually does, without waiting as long.
var soon = wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Steps: 9}

// kind is the CRD of a single test, with the versions v1alpha1 and v1. A conversion changes only the apiVersion. It stores v1alpha1 until a
// test changes that.
type kind struct {
	env      *harness.Env
	resource schema.GroupResource
	// namespace is the namespace of the test's objects.
	namespace string
}

const schemaOfKind = `{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}`

func newKind(t *testing.T, env *harness.Env) *kind {
	t.Helper()
	namespace := env.Namespace(t)
	k := &kind{env: env, namespace: namespace, resource: schema.GroupResource{Group: namespace + ".example.com", Resource: "gauges"}}
	refs := env.Apply(t, "", fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: %s
  scope: Namespaced
  names: {plural: gauges, singular: gauge, kind: Gauge, listKind: GaugeList}
  versions:
  - {name: v1alpha1, served: true, storage: true, schema: %[3]s}
  - {name: v1, served: true, storage: false, schema: %[3]s}
`, k.resource, k.resource.Group, schemaOfKind))
	t.Cleanup(func() {
		// The context of the test is over by now.
		if err := env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Delete(context.Background(), refs[0].Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("deleting the CRD of the test: %v", err)
		}
	})
	env.Await(t, refs[0], harness.HasCondition("Established", "True", "InitialNamesAccepted"))
	// What serves requests learns of that by a separate watch.
	for _, version := range []string{"v1alpha1", "v1"} {
		harness.Eventually(t, "the kind is served at "+version, func(ctx context.Context) error {
			_, err := env.Dynamic.Resource(k.resource.WithVersion(version)).Namespace(namespace).List(ctx, metav1.ListOptions{})
			return err
		})
	}
	return k
}

func (k *kind) ref(name string) harness.Ref {
	return harness.Ref{Resource: k.resource.WithVersion("v1"), Namespace: k.namespace, Name: name}
}

// apply applies an object at a version, as a separate manager.
func (k *kind) apply(t *testing.T, version, manager, name, spec string, dryRun ...string) error {
	t.Helper()
	body := fmt.Sprintf(`{"apiVersion": "%s/%s", "kind": "Gauge", "metadata": {"name": "%s"}, "spec": %s}`, k.resource.Group, version, name, spec)
	_, err := k.env.Dynamic.Resource(k.resource.WithVersion(version)).Namespace(k.namespace).
		Patch(t.Context(), name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: manager, DryRun: dryRun})
	return err
}

// store makes n objects named o-0, o-1 and so on at v1alpha1, and returns them.
func (k *kind) store(t *testing.T, n int) []unstructured.Unstructured {
	t.Helper()
	for i := range n {
		if err := k.apply(t, "v1alpha1", "maker", fmt.Sprintf("o-%d", i), `{"a": "is set"}`); err != nil {
			t.Fatal(err)
		}
	}
	return k.list(t)
}

func (k *kind) list(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	list, err := k.env.Dynamic.Resource(k.resource.WithVersion("v1")).Namespace(k.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (k *kind) get(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := k.env.Dynamic.Resource(k.resource.WithVersion("v1")).Namespace(k.namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func (k *kind) crd(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd, err := k.env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), k.resource.String(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

// change changes the CRD.
func (k *kind) change(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	k.env.ChangeCRD(t, k.resource, change)
}

func notServing(version string) func(*apiextensionsv1.CustomResourceDefinition) {
	return func(d *apiextensionsv1.CustomResourceDefinition) {
		for i := range d.Spec.Versions {
			if d.Spec.Versions[i].Name == version {
				d.Spec.Versions[i].Served = false
			}
		}
	}
}

func without(version string) func(*apiextensionsv1.CustomResourceDefinition) {
	return func(d *apiextensionsv1.CustomResourceDefinition) {
		var kept []apiextensionsv1.CustomResourceDefinitionVersion
		for _, v := range d.Spec.Versions {
			if v.Name != version {
				kept = append(kept, v)
			}
		}
		d.Spec.Versions = kept
	}
}

// storeAt changes the storage version.
func (k *kind) storeAt(t *testing.T, version string) {
	t.Helper()
	k.env.StoreAt(t, version, k.namespace, fmt.Sprintf("{apiVersion: %s/v1, kind: Gauge, metadata: {name: probe}}", k.resource.Group))
}

// storedAt counts the objects in etcd by the version that they are stored at.
func (k *kind) storedAt(t *testing.T) map[string]int {
	t.Helper()
	return k.env.StoredAt(t, k.resource)
}

// migrator is one whose requests can be disturbed by the test before they go out.
func (k *kind) migrator(disturb disturb) *migration.Migrator {
	return k.migratorAs(k.env.Config, disturb)
}

// migratorAs is migrator with the permissions of a config.
func (k *kind) migratorAs(as *rest.Config, disturb disturb) *migration.Migrator {
	config := rest.CopyConfig(as)
	config.UserAgent = k.userAgent()
	if disturb != nil {
		config.Wrap(disturb.wrap)
	}
	m := migration.NewForConfig(config)
	m.Backoff = soon
	return m
}

func (k *kind) userAgent() string { return "migration of " + k.resource.String() }

// requests are those of migrators of this kind since a mark, as verb and resource.
func (k *kind) requests(t *testing.T, mark harness.Mark) []string {
	t.Helper()
	var requests []string
	for _, e := range mark.Entries(t, func(e harness.AuditEntry) bool { return e.UserAgent == k.userAgent() }) {
		requests = append(requests, e.Verb+" "+e.Resource)
	}
	return requests
}

// jobSettings are the variables that the Job sets.
func jobSettings(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile(postInstall + "/200-migrate.yaml")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifest.Parse(content)
	if err != nil || len(objects) != 1 {
		t.Fatalf("reading the Job: %v (%d objects)", err, len(objects))
	}
	var settings []string
	for _, v := range harness.As[batchv1.Job](t, objects[0]).Spec.Template.Spec.Containers[0].Env {
		settings = append(settings, v.Name+"="+v.Value)
	}
	return settings
}

// postInstall is the folder with the Job, its account and what that may do.
const postInstall = "../../post-install"
