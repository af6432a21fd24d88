/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMigrate_Objects_AreStoredAtTheStorageVersionUnchanged(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n = 50
	was := k.store(t, n)
	k.storeAt(t, "v1")
	if got := k.storedAt(t); got["v1alpha1"] != n {
		t.Fatalf("before, objects are stored at %v, want all %d at v1alpha1", got, n)
	}

	m := k.migrator(nil)
	written, err := m.Migrate(t.Context(), k.resource.String())
	if err != nil {
		t.Fatal(err)
	}
	if written != n {
		t.Errorf("%d objects were written, want %d", written, n)
	}
	k.expectStored(t, n)
	k.expectUnchanged(t, was)
	for i, now := range k.list(t) {
		if now.GetResourceVersion() == was[i].GetResourceVersion() {
			t.Errorf("%s was not written", now.GetName())
		}
	}
}

func TestMigrate_Again_WritesNothing(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 5)
	k.storeAt(t, "v1")
	k.change(t, notServing("v1alpha1"))
	m := k.migrator(nil)
	if _, err := m.Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
	was := k.env.StoredOf(t, k.resource)
	mark := k.env.Mark(t)
	written, err := m.Migrate(t.Context(), k.resource.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"get customresourcedefinitions", "list gauges"}, k.requests(t, mark)); diff != "" {
		t.Errorf("requests of the second migration differ (-want +got):\n%s", diff)
	}
	if written != 0 {
		t.Errorf("%d objects were written, want none", written)
	}
	if diff := cmp.Diff(was, k.env.StoredOf(t, k.resource)); diff != "" {
		t.Errorf("etcd differs (-first +second):\n%s", diff)
	}
}

func TestMigrate_TwoAtOnce_DoNotDisturbEachOther(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n = 40
	k.store(t, n)
	k.storeAt(t, "v1")
	k.change(t, notServing("v1alpha1"))
	ends := make(chan error)
	for range 2 {
		m := k.migrator(nil)
		go func() {
			_, err := m.Migrate(t.Context(), k.resource.String())
			ends <- err
		}()
	}
	for range 2 {
		if err := <-ends; err != nil {
			t.Error(err)
		}
	}
	k.expectMigrated(t, n)
}

// expectStored expects all objects to be moved.
func (k *kind) expectStored(t *testing.T, n int) {
	t.Helper()
	if got := k.storedAt(t); got["v1"] != n || len(got) != 1 {
		t.Errorf("objects are stored at %v, want all %d at v1", got, n)
	}
	if got := fmt.Sprint(k.crd(t).Status.StoredVersions); got != "[v1]" {
		t.Errorf("status.storedVersions is %s, want [v1]", got)
	}
}

// expectUnchanged expects that nothing of what objects were has changed but their resource versions.
func (k *kind) expectUnchanged(t *testing.T, was []unstructured.Unstructured) {
	t.Helper()
	now := k.list(t)
	if len(now) != len(was) {
		t.Fatalf("there are %d objects, want %d", len(now), len(was))
	}
	for i := range was {
		now[i].SetResourceVersion(was[i].GetResourceVersion())
		if diff := cmp.Diff(was[i].Object, now[i].Object); diff != "" {
			t.Errorf("%s has changed (-before +after):\n%s", now[i].GetName(), diff)
		}
	}
}

// expectMigrated expects all objects to be moved and cleaned.
func (k *kind) expectMigrated(t *testing.T, n int) {
	t.Helper()
	k.expectStored(t, n)
	for _, object := range k.list(t) {
		for _, entry := range object.GetManagedFields() {
			if entry.APIVersion != k.resource.Group+"/v1" {
				t.Errorf("%s names %s in managedFields", object.GetName(), entry.APIVersion)
			}
		}
	}
}
