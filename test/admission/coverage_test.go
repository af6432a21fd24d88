/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestSchema_Bounds_EachHasACase(t *testing.T) {
	t.Parallel()
	schemas := schemas(t)
	if got, want := slices.Sorted(maps.Keys(schemas)), slices.Sorted(maps.Keys(bounds)); !slices.Equal(got, want) {
		t.Errorf("there are schemas of %q, and cases of %q", got, want)
	}
	for version, schema := range schemas {
		want := map[string]bool{}
		collect(t, schema, "", want)
		got := map[string]bool{}
		for _, b := range bounds[version] {
			if len(b.rejected) == 0 || len(b.accepted) == 0 {
				t.Errorf("%s: %s: the case has nothing that is rejected, or nothing that is accepted", version, b)
			}
			got[b.String()] = true
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("bounds of the schema of %s and cases differ (-schema, +cases):\n%s", version, diff)
		}
	}
}

// collect adds the bounds of a schema to found, by the text of a case for each. A keyword that it does not know is a failure,
// because it may be a bound of a kind that no case is about.
func collect(t *testing.T, schema map[string]any, path string, found map[string]bool) {
	t.Helper()
	for keyword, value := range schema {
		switch keyword {
		case "description", "default":
		case "type", "format":
			// TestSchema_ValuesOfOtherTypes_AreRejected is about these.
		case "properties":
			for name, property := range as[map[string]any](value) {
				collect(t, as[map[string]any](property), strings.TrimPrefix(path+"."+name, "."), found)
			}
		case "items":
			collect(t, as[map[string]any](value), path+"[]", found)
		case "required":
			for _, name := range as[[]any](value) {
				found[bound{path: strings.TrimPrefix(fmt.Sprintf("%s.%s", path, name), "."), keyword: keyword}.String()] = true
			}
		case "x-kubernetes-validations":
			for _, v := range as[[]any](value) {
				found[bound{path: path, keyword: "rule", rule: as[string](as[map[string]any](v)["rule"])}.String()] = true
			}
		case "x-kubernetes-list-type":
			if value != "map" {
				t.Errorf("%s: this test does not know lists of type %v", path, value)
			}
		case "x-kubernetes-list-map-keys", "minLength", "maxLength", "pattern", "minimum", "maximum", "enum", "minItems", "maxItems":
			found[bound{path: path, keyword: keyword}.String()] = true
		default:
			t.Errorf("%s: this test does not know the keyword %s, which may be a bound that has no case", path, keyword)
		}
	}
}

// schemas returns the schemas by version, without what users do not write: metadata has bounds of Kubernetes', and the
// status is the operator's.
func schemas(t *testing.T) map[string]map[string]any {
	t.Helper()
	crd, err := harness.Shared(t).CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(
		t.Context(), resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the CRD: %v", err)
	}
	schemas := make(map[string]map[string]any, len(crd.Spec.Versions))
	for _, version := range crd.Spec.Versions {
		root := version.Schema.OpenAPIV3Schema
		root.Properties = map[string]apiextensionsv1.JSONSchemaProps{"spec": root.Properties["spec"]}
		schema, err := runtime.DefaultUnstructuredConverter.ToUnstructured(root)
		if err != nil {
			t.Fatalf("reading a schema: %v", err)
		}
		schemas[version.Name] = schema
	}
	return schemas
}
