/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// Import paths of the packages whose types our kinds embed or refer to.
const (
	metav1Path  = "k8s.io/apimachinery/pkg/apis/meta/v1"
	apisPath    = "knative.dev/pkg/apis"
	duckv1Path  = "knative.dev/pkg/apis/duck/v1"
	trackerPath = "knative.dev/pkg/tracker"
)

// foreign is the schema of a type that another module declares, for a field with the description.
func foreign(t *testing.T, path, name, description string) schema {
	t.Helper()
	var schemas map[string]map[string]schema
	if err := yaml.Unmarshal(foreignYAML, &schemas); err != nil {
		t.Fatal(err)
	}
	s, found := schemas[path][name]
	if !found {
		t.Fatalf("foreign.yaml has no schema of %s.%s", path, name)
	}
	if description != "" {
		s.Description = description
	}
	return s
}

// at follows a path of properties, of "[]" to an array's items and "{}" to a map's values.
func at(t *testing.T, s *schema, path string) *schema {
	t.Helper()
	for name := range strings.SplitSeq(path, ".") {
		switch {
		case name == "[]" && s.Items != nil:
			s = s.Items.Schema
		case name == "{}" && s.AdditionalProperties != nil:
			s = s.AdditionalProperties.Schema
		default:
			next, ok := s.Properties[name]
			if !ok {
				t.Fatalf("the schema has no %q on the way to %q", name, path)
			}
			s = &next
		}
	}
	return s
}

func TestGenerate_Types_WritesTheGoldenCRDs(t *testing.T) {
	crds, err := generate(".", "./testdata/good/v1")
	if err != nil {
		t.Fatal("generate:", err)
	}
	if len(crds) != 1 {
		t.Fatalf("got %d CRDs, want one: the skeleton of a duck type is no kind", len(crds))
	}
	crd := crds[0]
	if got, want := crd.Name, "geese.good.example.com"; got != want {
		t.Errorf("name is %q, want %q", got, want)
	}
	if diff := cmp.Diff(map[string]string{"duck.knative.dev/addressable": "true"}, crd.Labels); diff != "" {
		t.Error("labels differ from the markers (-want +got):", diff)
	}

	root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, test := range []struct {
		path string
		want schema
	}{
		{"spec.source", foreign(t, apisPath, "URL", "Where it comes from.")},
		{"spec.arrival", foreign(t, apisPath, "VolatileTime", "When it came.")},
		{"spec.leader", foreign(t, duckv1Path, "KReference", "Whom it follows.")},
		{"spec.followers.[]", foreign(t, duckv1Path, "KReference", "")},
		{"spec.subject", foreign(t, trackerPath, "Reference", "Whom it looks for.")},
		{"spec.enemies", foreign(t, metav1Path, "LabelSelector", "Whom it avoids.")},
		{"status.conditions", foreign(t, duckv1Path, "Status", "").Properties["conditions"]},
		{"status.observedGeneration", foreign(t, duckv1Path, "Status", "").Properties["observedGeneration"]},
		{"status.annotations", foreign(t, duckv1Path, "Status", "").Properties["annotations"]},
		{"status.address", foreign(t, duckv1Path, "AddressStatus", "").Properties["address"]},
		{"status.addresses.[]", foreign(t, duckv1Path, "Addressable", "")},
	} {
		t.Run(test.path, func(t *testing.T) {
			if diff := cmp.Diff(&test.want, at(t, root, test.path)); diff != "" {
				t.Error("schema differs (-want +got):", diff)
			}
		})
	}
}

// The API server would prune a field that upstream adds and the schema lacks.
func TestForeignSchemas_HaveTheFieldsOfTheirTypes(t *testing.T) {
	for _, test := range []struct {
		path  string
		value any
	}{
		{metav1Path, metav1.TypeMeta{}},
		{apisPath, apis.Condition{}},
		{duckv1Path, duckv1.Status{}},
		{duckv1Path, duckv1.Addressable{}},
		{duckv1Path, duckv1.AddressStatus{}},
		{duckv1Path, duckv1.KReference{}},
	} {
		typ := reflect.TypeOf(test.value)
		t.Run(typ.String(), func(t *testing.T) {
			var want, got []string
			for field := range typ.Fields() {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				want = append(want, name)
			}
			for name := range foreign(t, test.path, typ.Name(), "").Properties {
				got = append(got, name)
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error("fields differ from the Go type's (-type +schema):", diff)
			}
		})
	}
}

func TestGenerate_PackagesWithoutKinds_AreRejected(t *testing.T) {
	if _, err := generate(".", "."); err == nil || !strings.Contains(err.Error(), metav1Path) {
		t.Errorf("error is %v, want one that names the missing import of %s", err, metav1Path)
	}
}

func TestRun_NamesFilesByTheirKinds(t *testing.T) {
	output := t.TempDir()
	license := filepath.Join(output, "license")
	if err := os.WriteFile(license, []byte("/*\nCopyright 2026 Goose Inc.\nSPDX-License-Identifier: MIT\n*/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(".", []string{"./testdata/good/v1"}, "", output, "", license); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(output, "300-goose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	const header = "# Copyright 2026 Goose Inc.\n# SPDX-License-Identifier: MIT\n\n# Code generated by crd-gen "
	if err := yaml.UnmarshalStrict(content, &crd); err != nil || !strings.HasPrefix(string(content), header) {
		t.Errorf("manifest is not a CRD below the header: %v\n%s", err, content)
	}
}

func TestConvertBy_Webhook_AddsTheConversion(t *testing.T) {
	ofVersions := func(count int) *apiextensionsv1.CustomResourceDefinition {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name = "geese.good.example.com"
		crd.Spec.Versions = make([]apiextensionsv1.CustomResourceDefinitionVersion, count)
		return crd
	}
	if single := ofVersions(1); convertBy(single, "") != nil || single.Spec.Conversion != nil {
		t.Errorf("a kind of one version is converted: %v", single.Spec.Conversion)
	}
	for _, service := range []string{"", "heron", "/heron", "ponds/"} {
		err := convertBy(ofVersions(2), service)
		if err == nil || !strings.Contains(err.Error(), "geese.good.example.com has 2 versions: flag --conversion-webhook must be NAMESPACE/NAME") {
			t.Errorf("%q: error is %v, want one that names the kind and the flag", service, err)
		}
	}
	double := ofVersions(2)
	if err := convertBy(double, "ponds/heron"); err != nil {
		t.Fatal(err)
	}
	want := &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "ponds", Name: "heron"}},
			ConversionReviewVersions: []string{"v1"},
		},
	}
	if diff := cmp.Diff(want, double.Spec.Conversion); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
