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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// entries are an object's managedFields as manager/operation@version.
func (k *kind) entries(t *testing.T, name string) string {
	t.Helper()
	var entries []string
	for _, e := range k.get(t, name).GetManagedFields() {
		_, version, _ := strings.Cut(e.APIVersion, "/")
		entries = append(entries, fmt.Sprintf("%s/%s@%s", e.Manager, e.Operation, version))
	}
	return strings.Join(entries, " ")
}

// remove drops v1alpha1 from the CRD, and returns when the API server has noticed.
func (k *kind) remove(t *testing.T) {
	t.Helper()
	k.change(t, without("v1alpha1"))
	client := k.env.Dynamic.Resource(k.resource.WithVersion("v1alpha1")).Namespace(k.namespace)
	harness.Eventually(t, "v1alpha1 is dropped", func(ctx context.Context) error {
		if _, err := client.List(ctx, metav1.ListOptions{}); err == nil {
			return errors.New("it is served")
		}
		return nil
	})
}

// prepare makes objects that have been applied at v1alpha1, and are moved but not cleaned: that version is still served.
func (k *kind) prepare(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := k.apply(t, "v1alpha1", "maker", name, `{"a": "old", "b": "stays"}`); err != nil {
			t.Fatal(err)
		}
	}
	k.storeAt(t, "v1")
	k.migrate(t)
}

func (k *kind) migrate(t *testing.T) {
	t.Helper()
	if _, err := k.migrator(nil).Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
}

// TestUpstream_ManagedFieldsOfADroppedVersion_BreakServerSideApply shows what managedFields are cleaned for: kubernetes/kubernetes#111937. When this
// fails, Kubernetes has fixed it.
func TestUpstream_ManagedFieldsOfADroppedVersion_BreakServerSideApply(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.prepare(t, "it")
	if err := k.apply(t, "v1", "other", "it", `{"b": "stays"}`); err != nil {
		t.Fatal(err)
	}
	k.remove(t)
	// The API server does not serve the version any more before its handler of the other version has forgotten it.
	harness.Eventually(t, "applying at v1 fails, because managedFields name v1alpha1", func(context.Context) error {
		switch err := k.apply(t, "v1", "maker", "it", `{"a": "new"}`, metav1.DryRunAll); {
		case err == nil:
			return errors.New("it succeeds")
		case !strings.Contains(err.Error(), "v1alpha1"):
			return fmt.Errorf("want an error that names v1alpha1: %w", err)
		}
		return nil
	})
	// It is not too late to clean them, and no manager loses more than the entries that have to be removed.
	k.migrate(t)
	if got := k.entries(t, "it"); got != "other/Apply@v1" {
		t.Errorf("after cleaning managedFields are %q, want those of the other manager alone", got)
	}
	if err := k.apply(t, "v1", "maker", "it", `{"a": "old"}`); err != nil {
		t.Errorf("applying after cleaning: %v", err)
	}
}

func TestMigrate_CleanedManagedFields_AllowDroppingTheVersion(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.prepare(t, "it")
	was := k.get(t, "it")
	k.change(t, notServing("v1alpha1"))
	k.migrate(t)
	now := k.get(t, "it")
	if now.GetGeneration() != was.GetGeneration() || fmt.Sprint(now.Object["spec"]) != fmt.Sprint(was.Object["spec"]) {
		t.Errorf("cleaning has changed the object from %v to %v", was, now)
	}
	if got := k.entries(t, "it"); got != "maker/Apply@v1" {
		t.Errorf("managedFields are %q, want one entry in the name of who applied", got)
	}
	k.remove(t)
	if err := k.apply(t, "v1", "maker", "it", `{"a": "new", "b": "stays"}`); err != nil {
		t.Fatalf("applying at v1: %v", err)
	}
	if got := k.entries(t, "it"); got != "maker/Apply@v1" {
		t.Errorf("after applying managedFields are %q, want the manager's entry and no other", got)
	}
	// The manager owns the fields that it applied again, so that it can remove them: no other manager has become an owner.
	if err := k.apply(t, "v1", "maker", "it", `{"a": "new"}`); err != nil {
		t.Fatalf("applying less: %v", err)
	}
	if got := fmt.Sprint(k.get(t, "it").Object["spec"]); got != "map[a:new]" {
		t.Errorf("spec is %s, want what was no longer applied to be removed", got)
	}
}

// Moving writes an object, and a write empties managedFields that name a version that was dropped. So cleaning is the first step.
func TestMigrate_StaleManagedFields_EachObjectIsWrittenOnce(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 2)
	k.storeAt(t, "v1")
	k.change(t, notServing("v1alpha1"))
	var written []string
	m := k.migrator(func(r *http.Request) error {
		if r.Method == http.MethodPatch {
			written = append(written, r.Header.Get("Content-Type"))
		}
		return nil
	})
	if _, err := m.Migrate(t.Context(), k.resource.String()); err != nil {
		t.Fatal(err)
	}
	want := []string{string(types.JSONPatchType), string(types.JSONPatchType), string(types.MergePatchType)}
	if fmt.Sprint(written) != fmt.Sprint(want) {
		t.Errorf("writes are %q, want %q", written, want)
	}
}

func TestMigrate_ObjectModifiedDuringCleaning_IsReadAgain(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.prepare(t, "changed", "cleaned", "deleted")
	k.change(t, notServing("v1alpha1"))
	m := k.migrator(nil)
	patched := map[string]int{}
	disturbed := k.migrator(func(r *http.Request) error {
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		if r.Method != http.MethodPatch {
			return nil
		}
		if patched[name]++; patched[name] > 1 {
			return nil
		}
		switch name {
		case "changed":
			k.env.Patch(t, k.ref(name), `{"spec": {"a": "changed"}}`)
		case "deleted":
			k.env.Delete(t, k.ref(name))
		case "cleaned":
			// Another migration has been faster, with all but one of them.
			_, err := m.Migrate(t.Context(), k.resource.String())
			return err
		}
		return nil
	})
	written, err := disturbed.Migrate(t.Context(), k.resource.String())
	if err != nil {
		t.Fatal(err)
	}
	if written != 1 {
		t.Errorf("%d objects were written, want the one that changed", written)
	}
	if patched["changed"] != 2 || patched["cleaned"] != 1 {
		t.Errorf("patches by name are %v, want the changed object to be retried, and the cleaned one not", patched)
	}
	if got := fmt.Sprint(k.get(t, "changed").Object["spec"]); got != "map[a:changed b:stays]" {
		t.Errorf("spec is %s, want the concurrent write", got)
	}
	k.expectMigrated(t, 2)
}
