/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"slices"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// TestConfig_OlderVersions_CostNothing shows that no write of an object is converted to the older versions, which config/ does not serve.
func TestConfig_OlderVersions_CostNothing(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	before := env.Conversions(t, v1.Resource("addressableservices"))
	env.Apply(t, ns, fixtures.Target)
	as := env.Apply(t, ns, object("it", "", ""))[0]
	env.Await(t, as, harness.Ready)
	env.Patch(t, as, `{"spec": {"path": "/new"}}`)
	env.Await(t, as, hasURL("http://target."+ns+".svc.cluster.local/new"))
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		_, err := env.Dynamic.Resource(as.Resource.GroupResource().WithVersion(version)).Namespace(ns).List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("a list at %s: got error %v, want one that the API server does not serve it", version, err)
		}
	}
	if n := env.Conversions(t, as.Resource.GroupResource()) - before; n != 0 {
		t.Errorf("the webhook has converted %d objects, want none", n)
	}
}

// TestConfig_ManagedFieldsOfAnOlderVersion_AreConvertedAtEachWrite shows the exception: an entry that a client has made at a version which is served no longer.
func TestConfig_ManagedFieldsOfAnOlderVersion_AreConvertedAtEachWrite(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	as := env.Apply(t, ns, object("it", "", ""))[0]
	env.Await(t, as, harness.Ready)
	client := env.Dynamic.Resource(as.Resource).Namespace(ns)
	// write returns the number of conversions for changes of the labels, with these further changes of managedFields.
	write := func(change func([]metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry) int {
		t.Helper()
		before := env.Conversions(t, as.Resource.GroupResource())
		for i := range 3 {
			stored, err := client.Get(t.Context(), as.Name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			stored.SetLabels(map[string]string{"example.com/write": strconv.Itoa(before + i)})
			stored.SetManagedFields(change(stored.GetManagedFields()))
			if _, err := client.Update(t.Context(), stored, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		return env.Conversions(t, as.Resource.GroupResource()) - before
	}
	isOlder := func(e metav1.ManagedFieldsEntry) bool { return e.APIVersion == "samples.knative.dev/v1alpha1" }
	added := write(func(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
		return append(slices.DeleteFunc(entries, isOlder), metav1.ManagedFieldsEntry{
			Manager: "older", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "samples.knative.dev/v1alpha1",
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:serviceName":{}}}`)},
		})
	})
	kept := write(func(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return entries })
	removed := write(func(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
		return slices.DeleteFunc(entries, isOlder)
	})
	after := write(func(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return entries })
	t.Logf("conversions of three writes: %d while the entry is added, %d with the entry, %d while it is removed, %d without it", added, kept, removed, after)
	if kept < 3 || after != 0 {
		t.Errorf("three writes have %d conversions with the entry, want one of each at least, and %d without it, want none", kept, after)
	}
}
