/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"os"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// randomlyValid returns a function that makes random objects of a version that its schema accepts.
func randomlyValid(t *testing.T) func(version string) map[string]any {
	t.Helper()
	content, err := os.ReadFile("../../../../config/300-addressableservice.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(content, &crd); err != nil {
		t.Fatal(err)
	}
	schemas := make(map[string]*apiextensionsv1.JSONSchemaProps)
	for _, version := range crd.Spec.Versions {
		schemas[version.Name] = version.Schema.OpenAPIV3Schema
	}
	random := newSchemaValues(testrand.Source(t))
	return func(version string) map[string]any {
		value, err := random.of(schemas[version])
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		object := value.(map[string]any)
		delete(object, "apiVersion")
		delete(object, "kind")
		object["metadata"] = map[string]any{"name": "a", "namespace": "ns"}
		return object
	}
}

// Every object that the API server admits at a version can be read and converted, and is unchanged when it is written back at any other version.
func TestConvert_ObjectsThatTheSchemaAccepts_Succeeds(t *testing.T) {
	random := randomlyValid(t)
	for _, version := range all {
		t.Run(version, func(t *testing.T) {
			for range testrand.Inputs(t) {
				// Reading and writing may drop an empty list with omitempty.
				object := encodeAs(t, encodeAs(t, encode(t, random(version)), version), version)
				for _, to := range all {
					if to != version {
						shown := converted(t, object, version, to)
						expectSamef(t, object, converted(t, shown, to, version), "at %s it is %s", to, shown)
					}
				}
			}
		})
	}
}

// The schema of the version that a client writes at does not validate the fields that the annotation adds at another version. So
// an object is either rejected, or right at v1.
func TestValidate_StashedFields_FollowTheRulesOfV1(t *testing.T) {
	random, anything := randomlyValid(t), randomly(t)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			accepted, rejected := 0, 0
			for i := range testrand.Inputs(t) {
				// The annotation is that of another object, which may have been right at v1 or not.
				other := encode(t, anything("v1"))
				if i%2 == 0 {
					other = encode(t, random("v1"))
				}
				donor := newObject(t, version)
				decode(t, converted(t, other, "v1", version), donor)
				object := random(version)
				object["metadata"].(map[string]any)["annotations"] = map[string]any{annotation: donor.GetAnnotations()[annotation]}

				text := encode(t, object)
				if isRejected(t, text, version) {
					rejected++
					continue
				}
				accepted++
				if hub := converted(t, text, version, "v1"); isRejected(t, hub, "v1") {
					t.Fatalf("%s of %s is accepted, and at v1 it is %s", text, version, hub)
				}
			}
			if accepted == 0 || rejected == 0 {
				t.Errorf("%d objects were accepted and %d rejected: there have to be some of both", accepted, rejected)
			}
		})
	}
}

// isRejected reports whether an object cannot be created.
func isRejected(t *testing.T, text, version string) bool {
	t.Helper()
	object := newObject(t, version)
	decode(t, text, object)
	validatable, ok := object.(apis.Validatable)
	if !ok {
		t.Fatalf("%T is not validated", object)
	}
	return validatable.Validate(apis.WithinCreate(t.Context())).Filter(apis.ErrorLevel) != nil
}
