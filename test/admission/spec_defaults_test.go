/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestDefaulting_NoVisibility_SetsClusterLocal(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for name, c := range map[string]struct {
		version string
		change  change
		want    map[string]string
	}{
		"left out":            {hub, unset("spec.visibility"), map[string]string{hub: "ClusterLocal", "v1beta1": "Internal"}},
		"null":                {hub, set("spec.visibility", nil), map[string]string{hub: "ClusterLocal", "v1beta1": "Internal"}},
		"Public":              {hub, set("spec.visibility", "Public"), map[string]string{hub: "Public", "v1beta1": "External"}},
		"left out at v1beta1": {"v1beta1", unset("spec.exposure"), map[string]string{hub: "ClusterLocal", "v1beta1": "Internal"}},
		"null at v1beta1":     {"v1beta1", set("spec.exposure", nil), map[string]string{hub: "ClusterLocal", "v1beta1": "Internal"}},
		"External at v1beta1": {"v1beta1", set("spec.exposure", "External"), map[string]string{hub: "Public", "v1beta1": "External"}},
		// A client of a version without the field has not left it out.
		"unknown at v1alpha1": {"v1alpha1", all(), map[string]string{hub: "", "v1beta1": ""}},
	} {
		stored := create(t, env, objectAt(c.version, ns, c.change))
		for version, want := range c.want {
			field := map[string]string{hub: "visibility", "v1beta1": "exposure"}[version]
			if got, _, _ := unstructured.NestedString(get(t, version, env, ns, stored.GetName()).Object, "spec", field); got != want {
				t.Errorf("%s: got %s %q at %s, want %q", name, field, got, version, want)
			}
		}
	}
}

// An update of other fields does not request fields that the object was created without.
func TestDefaulting_Update_DoesNotFillInOtherFields(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			created := create(t, env, objectAt("v1alpha1", ns))
			before := get(t, hub, env, ns, created.GetName())
			_, err := servicesAt(version, env, ns).Patch(t.Context(), created.GetName(), types.MergePatchType,
				[]byte(`{"metadata": {"labels": {"touched": "true"}}}`), metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
			if err != nil {
				t.Fatal(err)
			}
			after := get(t, hub, env, ns, created.GetName())
			if got := after.GetLabels()["touched"]; got != "true" {
				t.Errorf("the label is %q", got)
			}
			if diff := gocmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" {
				t.Errorf("the label has changed the spec (-before, +after):\n%s", diff)
			}
			if got, want := after.GetGeneration(), before.GetGeneration(); got != want {
				t.Errorf("the generation is %d, and was %d", got, want)
			}
		})
	}
}
