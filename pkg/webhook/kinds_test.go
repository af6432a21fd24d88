/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// servedKinds returns the versions of each kind that is served.
func servedKinds() map[schema.GroupKind][]string {
	all := map[schema.GroupKind][]string{}
	for gvk := range instances[metav1.Object]() {
		all[gvk.GroupKind()] = append(all[gvk.GroupKind()], gvk.Version)
	}
	return all
}

// A kind that is not served would be stored without defaults and validation, and so would objects of a version that is not. No object of the kind
// could be read at that version.
func TestServed_ListsEveryKindAndVersionOfTheCRDs(t *testing.T) {
	files, err := filepath.Glob("../../config/300-*.yaml")
	if err != nil || len(files) != len(servedKinds()) {
		t.Errorf("%d kinds are served, of %q: %v", len(servedKinds()), files, err)
	}
	for groupKind, served := range servedKinds() {
		crd := crdOf(t, groupKind)
		var versions []string
		for _, version := range crd.Spec.Versions {
			versions = append(versions, version.Name)
			gvk := groupKind.WithVersion(version.Name)
			if object := instances[metav1.Object]()[gvk]; object == nil {
				t.Errorf("what is served as %s is a %T", gvk, object)
			}
		}
		slices.Sort(versions)
		slices.Sort(served)
		if diff := cmp.Diff(versions, served); diff != "" {
			t.Errorf("versions of %s (-CRD +served):\n%s", groupKind, diff)
		}
	}
}

// crdOf reads the CRD that is applied to a cluster.
func crdOf(t *testing.T, kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	content, err := os.ReadFile("../../config/300-" + strings.ToLower(kind.Kind) + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
