/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/kmeta"

	clientscheme "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/scheme"
)

// A kind that is not listed would be stored without defaults and validation. The generated clientset contains every kind, at the
// hub version at least.
func TestServed_ListsEveryKindOfTheClientset(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clientscheme.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	found := sets.New[schema.GroupKind]()
	for gvk, goType := range scheme.AllKnownTypes() {
		if !strings.Contains(goType.PkgPath(), "/pkg/apis/samples/") || strings.HasSuffix(gvk.Kind, "List") {
			continue
		}
		found.Insert(gvk.GroupKind())
		kind, ok := served[gvk.GroupKind()]
		if !ok {
			t.Errorf("%s is not served", gvk)
			continue
		}
		newObject, ok := kind.versions[gvk.Version]
		if !ok {
			t.Errorf("%s is not served", gvk)
			continue
		}
		if got := reflect.TypeOf(newObject()).Elem(); got != goType {
			t.Errorf("%s is read as %s, want %s", gvk, got, goType)
		}
	}
	for groupKind, kind := range served {
		if !found.Has(groupKind) || !scheme.Recognizes(groupKind.WithVersion(kind.hub)) {
			t.Errorf("the clientset does not know %s at %s, its hub", groupKind, kind.hub)
		}
	}
}

// Objects at a version that is missing here would be stored without defaults and validation, and no object of the kind could be read at
// that version.
func TestServed_ListsEveryVersionOfACRD(t *testing.T) {
	for groupKind, kind := range served {
		crd := crdOf(t, groupKind)
		var versions []string
		for _, version := range crd.Spec.Versions {
			versions = append(versions, version.Name)
			if version.Storage && version.Name != kind.hub {
				t.Errorf("%s is stored at %s, and %s is the hub", groupKind, version.Name, kind.hub)
			}
			if gvk := kind.gvk(t, version.Name); gvk != groupKind.WithVersion(version.Name) {
				t.Errorf("what is served as %s of version %s is %s", groupKind, version.Name, gvk)
			}
		}
		slices.Sort(versions)
		if diff := cmp.Diff(versions, slices.Sorted(maps.Keys(kind.versions))); diff != "" {
			t.Errorf("versions of %s (-CRD +served):\n%s", groupKind, diff)
		}
	}
}

// gvk returns the apiVersion and kind of an object.
func (k kind) gvk(t *testing.T, version string) schema.GroupVersionKind {
	t.Helper()
	newObject, ok := k.versions[version]
	if !ok {
		t.Fatalf("version %s is not served", version)
	}
	object, ok := newObject().(kmeta.OwnerRefable)
	if !ok {
		t.Fatalf("an object of version %s does not know its kind", version)
	}
	return object.GetGroupVersionKind()
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
