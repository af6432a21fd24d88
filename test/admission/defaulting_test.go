/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func classOf(o *unstructured.Unstructured) string {
	return o.GetAnnotations()[samples.ClassAnnotationKey]
}

// replace updates an object with a whole manifest of some version, as kubectl replace does.
func replace(t *testing.T, env *harness.Env, name string, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	var replaced *unstructured.Unstructured
	// The operator may write the status concurrently.
	harness.Eventually(t, "the object is replaced", func(ctx context.Context) error {
		services := servicesAt(versionOf(o), env, o.GetNamespace())
		current, err := services.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		named(name)(o)
		o.SetResourceVersion(current.GetResourceVersion())
		replaced, err = services.Update(ctx, o, metav1.UpdateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
	return replaced
}

func TestDefaulting_ReplaceWithTheFirstManifest_KeepsClassAndFinalizer(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for version, field := range map[string]string{"v1alpha1": "serviceName", "v1beta1": "path", hub: "path"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			ns := env.Namespace(t)
			stored := create(t, env, objectAt(version, ns))
			if got, want := stored.GetFinalizers(), []string{samples.FinalizerName}; !slices.Equal(got, want) {
				t.Fatalf("a new object of our class: got finalizers %q, want %q", got, want)
			}
			want := map[string]string{"serviceName": "new", "path": "/new"}[field]
			replaced := replace(t, env, stored.GetName(), objectAt(version, ns, set("spec."+field, want)))
			if got := classOf(replaced); got != samples.ClassMallard {
				t.Errorf("got class %q, want %q", got, samples.ClassMallard)
			}
			if got, want := replaced.GetFinalizers(), []string{samples.FinalizerName}; !slices.Equal(got, want) {
				t.Errorf("got finalizers %q, want %q", got, want)
			}
			if got, _, _ := unstructured.NestedString(replaced.Object, "spec", field); got != want {
				t.Errorf("got %s %q, want the new one", field, got)
			}
		})
	}
}

func TestDefaulting_OtherFinalizers_AreKept(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	const other = "example.com/other"
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			ns := env.Namespace(t)
			stored := create(t, env, objectAt(version, ns, set("metadata.finalizers", []any{other})))
			if got, want := stored.GetFinalizers(), []string{other, samples.FinalizerName}; !slices.Equal(got, want) {
				t.Errorf("got finalizers %q, want %q", got, want)
			}
			ref := harness.Ref{Resource: at(version), Namespace: ns, Name: stored.GetName()}
			env.Delete(t, ref)
			env.Await(t, ref, hasFinalizers(other))
			// The operator is done with it, so an update must not bring its finalizer back.
			env.Patch(t, ref, `{"metadata": {"labels": {"touched": "true"}}}`)
			if got := env.Await(t, ref, harness.Exists).GetFinalizers(); !slices.Equal(got, []string{other}) {
				t.Errorf("after an update of an object that is being deleted: got finalizers %q, want %q only", got, other)
			}
			env.Patch(t, ref, `{"metadata": {"finalizers": null}}`)
			env.Await(t, ref, harness.Deleted)
		})
	}
}

func hasFinalizers(want ...string) harness.Condition {
	return func(o *unstructured.Unstructured) error {
		if o == nil {
			return errors.New("it does not exist")
		}
		if got := o.GetFinalizers(); !slices.Equal(got, want) {
			return fmt.Errorf("its finalizers are %q", got)
		}
		return nil
	}
}

func TestDefaulting_AnotherClass_IsStoredUnchanged(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	filled := cmpopts.IgnoreMapEntries(func(key string, _ any) bool {
		return slices.Contains([]string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}, key)
	})
	for version, edited := range map[string]change{
		"v1alpha1": set("spec.serviceName", "new"), "v1beta1": set("spec.path", "/new"), hub: set("spec.path", "/new"),
	} {
		sent := objectAt(version, ns, classed("another.example.com"), named(version))
		stored := create(t, env, sent)
		if version == "v1alpha1" {
			// Upstream's type always shows a status, be it an empty one.
			set("status", map[string]any{})(sent)
		}
		if diff := cmp.Diff(sent.Object, stored.Object, filled); diff != "" {
			t.Errorf("at %s: it was changed on its way (-sent, +stored):\n%s", version, diff)
		}
		// An update changes no other fields either.
		edited(sent)
		patch, err := json.Marshal(map[string]any{"spec": sent.Object["spec"]})
		if err != nil {
			t.Fatal(err)
		}
		patched, err := servicesAt(version, env, ns).Patch(t.Context(), version, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sent.Object, patched.Object, filled); diff != "" {
			t.Errorf("at %s: an update changed more than it says (-wanted, +stored):\n%s", version, diff)
		}
	}
}
