/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMigrate_ObjectIsDeletedDuringTheRun_IsNoFailure(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 5)
	k.storeAt(t, "v1")
	m := k.migrator(before(http.MethodPatch, "/o-3", func() { k.env.Delete(t, k.ref("o-3")) }))
	written, err := m.Migrate(t.Context(), k.resource.String())
	if err != nil {
		t.Fatal(err)
	}
	if written != 4 {
		t.Errorf("%d objects were written, want 4", written)
	}
	if got := k.storedAt(t); got["v1"] != 4 || len(got) != 1 {
		t.Errorf("objects are stored at %v, want 4 at v1", got)
	}
}

// reject has the API server reject every change of an object whose field a is bad. It returns when the API server does, for
// which there has to be one with that name.
func (k *kind) reject(t *testing.T) {
	t.Helper()
	k.env.Apply(t, "", fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [%[2]s], apiVersions: ["*"], operations: [UPDATE], resources: [gauges]}]
  validations: [{expression: "object.spec.a != 'bad'", message: "nothing is bad any more"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [Deny]}
`, k.namespace, k.resource.Group))
	t.Cleanup(func() {
		policies := k.env.Kube.AdmissionregistrationV1()
		err := errors.Join(
			policies.ValidatingAdmissionPolicyBindings().Delete(context.Background(), k.namespace, metav1.DeleteOptions{}),
			policies.ValidatingAdmissionPolicies().Delete(context.Background(), k.namespace, metav1.DeleteOptions{}))
		if err != nil {
			t.Errorf("deleting the policy of the test: %v", err)
		}
	})
	harness.Eventually(t, "the policy is in force", func(ctx context.Context) error {
		object := k.get(t, "bad")
		_, err := k.env.Dynamic.Resource(k.resource.WithVersion("v1")).Namespace(k.namespace).Update(ctx, object, metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsInvalid(err) {
			return fmt.Errorf("got error %w", err)
		}
		return nil
	})
}

func TestMigrate_ObjectRejected_IsNamedAndOthersAreMigrated(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	if err := k.apply(t, "v1alpha1", "maker", "bad", `{"a": "bad"}`); err != nil {
		t.Fatal(err)
	}
	const n = 7
	k.store(t, n)
	k.storeAt(t, "v1")
	k.reject(t)
	m := k.migrator(nil)
	written, err := m.Migrate(t.Context(), k.resource.String())
	if err == nil {
		t.Fatal("there is no error")
	}
	for part, want := range map[string]int{k.namespace + "/bad: ": 1, k.namespace + "/o-": 0, "nothing is bad any more": 1, "status.storedVersions is left as it is": 1} {
		if got := strings.Count(err.Error(), part); got != want {
			t.Errorf("the error contains %q %d times, want %d: %v", part, got, want, err)
		}
	}
	if written != n {
		t.Errorf("%d objects were written, want %d", written, n)
	}
	if got := k.storedAt(t); got["v1"] != n || got["v1alpha1"] != 1 {
		t.Errorf("objects are stored at %v, want all but one at v1", got)
	}
	if got := fmt.Sprint(k.crd(t).Status.StoredVersions); got != "[v1alpha1 v1]" {
		t.Errorf("status.storedVersions is %s, want it untouched", got)
	}

	// Once it is fixed, another run migrates the rest.
	k.env.Delete(t, k.ref("bad"))
	k.migrate(t)
	k.expectStored(t, n)
}

// An object that cannot be cleaned is rejected for the same reason when it is moved, and is not tried a second time.
func TestMigrate_ObjectThatCannotBeCleaned_IsTriedOnce(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	if err := k.apply(t, "v1alpha1", "maker", "bad", `{"a": "bad"}`); err != nil {
		t.Fatal(err)
	}
	k.store(t, 2)
	k.storeAt(t, "v1")
	k.reject(t)
	k.change(t, notServing("v1alpha1"))
	tries := 0
	m := k.migrator(func(r *http.Request) error {
		if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/bad") {
			tries++
		}
		return nil
	})
	written, err := m.Migrate(t.Context(), k.resource.String())
	if err == nil || strings.Count(err.Error(), "/bad: ") != 1 || tries != 1 {
		t.Errorf("got error %v after %d tries of the object, want it named once after one", err, tries)
	}
	if written != 2 {
		t.Errorf("%d objects were written, want the two others", written)
	}
}

func TestMigrate_CRDChangesDuringTheRun_KeepsStoredVersions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *kind){
		"stored elsewhere": func(t *testing.T, k *kind) { t.Helper(); k.storeAt(t, "v1alpha1") },
		// Objects written in between are stored at the other version, although both reads of the CRD find the same one.
		"stored elsewhere and back": func(t *testing.T, k *kind) { t.Helper(); k.storeAt(t, "v1alpha1"); k.storeAt(t, "v1") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKind(t, harness.Shared(t))
			k.store(t, 3)
			k.storeAt(t, "v1")
			m := k.migrator(before(http.MethodPatch, "/o-2", func() { change(t, k) }))
			_, err := m.Migrate(t.Context(), k.resource.String())
			if err == nil || !strings.Contains(err.Error(), "the CRD was changed during the migration") || !strings.Contains(err.Error(), "migrate again") {
				t.Errorf("got error %v, want one that says that the CRD was changed, and to migrate again", err)
			}
			if got := fmt.Sprint(k.crd(t).Status.StoredVersions); got != "[v1alpha1 v1]" {
				t.Errorf("status.storedVersions is %s, want both", got)
			}
			k.storeAt(t, "v1")
			k.migrate(t)
			k.expectStored(t, 3)
		})
	}
}

// The CRD may change between the last read and the write: the patch names the resourceVersion that was read.
func TestMigrate_CRDChangesBeforeTheStatusPatch_KeepsStoredVersions(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 3)
	k.storeAt(t, "v1")
	m := k.migrator(before(http.MethodPatch, "/status", func() { k.storeAt(t, "v1alpha1") }))
	if _, err := m.Migrate(t.Context(), k.resource.String()); err == nil || !strings.Contains(err.Error(), "the CRD was changed during the migration") {
		t.Errorf("got error %v, want one that says that the CRD was changed", err)
	}
	if got := fmt.Sprint(k.crd(t).Status.StoredVersions); got != "[v1alpha1 v1]" {
		t.Errorf("status.storedVersions is %s, want both", got)
	}
}

// Another client writes the CRD, which is no reason to give up.
func TestMigrate_ConflictInTheCRD_IsRetried(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 3)
	k.storeAt(t, "v1")
	m := k.migrator(before(http.MethodPatch, "/status", func() {
		crd := harness.Ref{Resource: apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"), Name: k.resource.String()}
		k.env.Patch(t, crd, `{"metadata": {"annotations": {"example.com/touched": "yes"}}}`)
	}))
	if _, err := m.Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
	k.expectStored(t, 3)
}
