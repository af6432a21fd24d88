/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// crdOf has versions by name, with * behind the one that is stored, and - in front of one that is not served.
func crdOf(versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gauges"},
	}}
	crd.Name = "gauges.example.com"
	for _, v := range versions {
		name, hidden := strings.CutPrefix(v, "-")
		name, storage := strings.CutSuffix(name, "*")
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: name, Served: !hidden, Storage: storage})
	}
	return crd
}

func TestPlan_CRDs_ReturnsKindsToMigrate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		versions, drop, keep []string
		err                  string
	}{
		"all are served":                        {versions: []string{"v1alpha1", "v1*"}, keep: []string{"example.com/v1", "example.com/v1alpha1"}},
		"one is not served":                     {versions: []string{"-v1alpha1", "v1beta1", "v1*"}, keep: []string{"example.com/v1", "example.com/v1beta1"}},
		"one should be dropped":                 {versions: []string{"v1alpha1", "v1beta1", "v1*"}, drop: []string{"v1beta1"}, keep: []string{"example.com/v1", "example.com/v1alpha1"}},
		"one not served should be dropped, too": {versions: []string{"-v1alpha1", "v1*"}, drop: []string{"v1alpha1"}, keep: []string{"example.com/v1"}},
		"stored at an older one":                {versions: []string{"v1alpha1*", "v1"}, drop: []string{"v1"}, keep: []string{"example.com/v1alpha1"}},
		"one to be dropped is unknown":          {versions: []string{"v1alpha1", "v1*"}, drop: []string{"v2"}, err: `gauges.example.com: there is no version "v2" to be dropped; there are: v1alpha1, v1`},
		"the stored one should be dropped":      {versions: []string{"v1alpha1", "v1*"}, drop: []string{"v1"}, err: "gauges.example.com: version v1 cannot be dropped, objects are stored at it; there are: v1alpha1, v1"},
		"the stored one is not served":          {versions: []string{"v1alpha1", "-v1*"}, err: "gauges.example.com: the storage version v1 is not served, so that objects can neither be listed nor written at it; serve it first"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := newPlan(crdOf(test.versions...), test.drop)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.keep, slices.Sorted(slices.Values(p.keep.UnsortedList()))); diff != "" {
				t.Errorf("what is kept differs (-want +got):\n%s", diff)
			}
			var stored string
			for _, v := range test.versions {
				if name, ok := strings.CutSuffix(v, "*"); ok {
					stored = name
				}
			}
			if want := (schema.GroupVersionResource{Group: "example.com", Version: stored, Resource: "gauges"}); p.storage != want {
				t.Errorf("objects should be stored at %v, want %v", p.storage, want)
			}
		})
	}
}
