/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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

func TestGenerate(t *testing.T) {
	crds, err := generate(".", "./testdata/good/...")
	if err != nil {
		t.Fatal("generate:", err)
	}
	if len(crds) != 1 {
		t.Fatalf("got %d CRDs, want one: the skeleton of a duck type is no kind", len(crds))
	}
	crd := crds[0]
	if err := check(crd); err != nil {
		t.Error("check refuses a CRD that is in order:", err)
	}
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
		{"spec.source", withDescription(foreign(t, apisPath, "URL"), "Where it comes from.")},
		{"spec.arrival", withDescription(foreign(t, apisPath, "VolatileTime"), "When it came.")},
		{"spec.leader", withDescription(foreign(t, duckv1Path, "KReference"), "Whom it follows.")},
		{"spec.followers.[]", foreign(t, duckv1Path, "KReference")},
		{"spec.subject", withDescription(foreign(t, trackerPath, "Reference"), "Whom it looks for.")},
		{"spec.enemies", withDescription(foreign(t, metav1Path, "LabelSelector"), "Whom it avoids.")},
		{"status.conditions", foreign(t, duckv1Path, "Status").Properties["conditions"]},
		{"status.observedGeneration", foreign(t, duckv1Path, "Status").Properties["observedGeneration"]},
		{"status.annotations", foreign(t, duckv1Path, "Status").Properties["annotations"]},
		{"status.address", foreign(t, duckv1Path, "AddressStatus").Properties["address"]},
		{"status.addresses.[]", foreign(t, duckv1Path, "Addressable")},
	} {
		t.Run(test.path, func(t *testing.T) {
			if diff := cmp.Diff(&test.want, at(t, root, test.path)); diff != "" {
				t.Error("schema differs (-want +got):", diff)
			}
		})
	}
}

func TestGenerateRefusesForeignTypes(t *testing.T) {
	_, err := generate(".", "./testdata/foreign/...")
	if err == nil {
		t.Fatal("a type of another module without a schema of ours was accepted")
	}
	for _, want := range []string{"foreign.yaml", "knative.dev/pkg/apis/duck/v1.SourceSpec"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %q", err, want)
		}
	}
}

func TestGenerateWithoutKinds(t *testing.T) {
	if _, err := generate(".", "."); err == nil || !strings.Contains(err.Error(), metav1Path) {
		t.Errorf("error is %v, want one that says that no package imports %s", err, metav1Path)
	}
}
