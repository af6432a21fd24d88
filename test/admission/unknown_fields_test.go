/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// levels are the objects that a manifest consists of at a version, and how the API server names a field of each.
var levels = map[string]map[string]string{
	"v1alpha1": {"": "", "metadata.": "metadata.", "spec.": "spec."},
	"v1beta1":  {"": "", "metadata.": "metadata.", "spec.": "spec.", "spec.ref.": "spec.ref."},
	hub: {
		"": "", "metadata.": "metadata.", "spec.": "spec.", "spec.ref.": "spec.ref.",
		"spec.ports.0.": "spec.ports[0].", "spec.publish.": "spec.publish.",
	},
}

func TestSchema_UnknownFieldsAtEveryLevel_AreRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for version, levels := range levels {
		for level, named := range levels {
			t.Run(version+" "+level+"unknown", func(t *testing.T) {
				t.Parallel()
				want := fmt.Sprintf("unknown field %q", named+"unknown")
				_, err := tryCreate(t, env, objectAt(version, ns, set(level+"unknown", "value")))
				if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
					t.Errorf("create: got error %v, want a bad request that says %s", err, want)
				}
			})
		}
	}
}

// What another version has is unknown too.
func TestSchema_FieldsOfOtherVersions_AreRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for _, version := range versions {
		for _, other := range versions {
			for field, value := range specs[other] {
				if _, ok := specs[version][field]; ok {
					continue
				}
				object, want := objectAt(version, ns, set("spec."+field, value)), fmt.Sprintf("unknown field %q", "spec."+field)
				_, err := tryCreate(t, env, object)
				_, dry := servicesAt(version, env, ns).Create(t.Context(), object, metav1.CreateOptions{
					FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll},
				})
				for _, err := range []error{err, dry} {
					if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
						t.Errorf("%s of %s at %s: got error %v, want a bad request that says %s", field, other, version, err, want)
					}
				}
			}
		}
	}
}

// A client that does not request strict validation is warned, as the API server's default is.
func TestSchema_UnknownFieldsFromALenientClient_AreWarnedOfAndDropped(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	client, warnings := warned(t, env)
	for version, levels := range levels {
		services := client.Resource(at(version)).Namespace(ns)
		for level, name := range levels {
			stored, err := services.Create(t.Context(), objectAt(version, ns, set(level+"unknown", "value")), metav1.CreateOptions{})
			if err != nil {
				t.Errorf("%s: %sunknown: %v", version, level, err)
				continue
			}
			want := append(slices.Clone(deprecations[version]), fmt.Sprintf("unknown field %q", name+"unknown"))
			if got := warnings.take(); !slices.Equal(got, want) {
				t.Errorf("%s: %sunknown: got warnings %q, want %q", version, level, got, want)
			}
			if diff := gocmp.Diff(objectAt(version, ns).Object["spec"], stored.Object["spec"]); diff != "" {
				t.Errorf("%s: %sunknown: the spec is stored with a difference (-without it, +stored):\n%s", version, level, diff)
			}
			parent, last := parentOf(stored.Object, level+"unknown")
			if parent[last] != nil {
				t.Errorf("%s: %sunknown is stored", version, level)
			}
		}
		// Nor is there a warning where there is nothing to warn of.
		if _, err := services.Create(t.Context(), objectAt(version, ns), metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
		if got, want := warnings.take(), deprecations[version]; !slices.Equal(got, want) {
			t.Errorf("%s: without an unknown field: got warnings %q, want %q", version, got, want)
		}
	}
}

func TestSchema_UnknownFieldsOfTheStatus_AreRejected(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	subject := create(t, env, object(ns, classed("elsewhere")))
	for version, unknown := range map[string][]string{"v1alpha1": {"unknown", "addresses"}, "v1beta1": {"unknown", "addresses"}, hub: {"unknown"}} {
		for _, field := range unknown {
			_, err := servicesAt(version, env, ns).Patch(t.Context(), subject.GetName(), types.MergePatchType, []byte(`{"status": {"`+field+`": []}}`),
				metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}, "status")
			if want := `unknown field "status.` + field + `"`; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want one that says %s", version, err, want)
			}
		}
	}
}
