//go:build !kubernetes1.34

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// mostCost bounds the estimated cost of a rule. The API server accepts no CRD with a rule of a hundred times as much.
const mostCost = validation.StaticEstimatedCostLimit / 100

// TestRules_OfTheCRDs_AreCheap logs the cost of each rule in config/ as the API server estimates it when the CRD is created: for the largest object that
// the schema admits. The conditions of webhooks and policies have no such estimate, because the sizes of untyped objects are unknown; the API server
// bounds what they cost when they are evaluated.
func TestRules_OfTheCRDs_AreCheap(t *testing.T) {
	files, err := filepath.Glob("../../config/300-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got error %v and the CRDs %q", err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, version := range crd.Spec.Versions {
			var schema apiextensions.JSONSchemaProps
			if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &schema, nil); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			checkCosts(t, validation.RootCELContext(&schema), &schema, field.NewPath(crd.Name, version.Name))
		}
	}
}

// checkCosts checks the rules of a schema and of those below it.
func checkCosts(t *testing.T, context *validation.CELSchemaContext, schema *apiextensions.JSONSchemaProps, path *field.Path) {
	t.Helper()
	if len(schema.XValidations) > 0 {
		info, err := context.TypeInfo()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rules, err := schemacel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit,
			environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), schemacel.NewExpressionsEnvLoader())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i, rule := range rules {
			text := schema.XValidations[i].Rule
			if rule.Error != nil {
				t.Errorf("%s: the rule %s does not compile: %v", path, text, rule.Error)
				continue
			}
			times := ptr.Deref(context.MaxCardinality, rule.MaxCardinality)
			t.Logf("%s: cost %d, %d times at most: %s", path, rule.MaxCost, times, text)
			if rule.MaxCost > mostCost/times {
				t.Errorf("%s: the rule %s has the estimated cost %d, %d times at most, want %d at most in all", path, text, rule.MaxCost, times, mostCost)
			}
		}
	}
	for name, property := range schema.Properties {
		checkCosts(t, context.ChildPropertyContext(&property, name), &property, path.Child(name))
	}
	if schema.Items != nil {
		checkCosts(t, context.ChildItemsContext(schema.Items.Schema), schema.Items.Schema, path.Index(0))
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		checkCosts(t, context.ChildAdditionalPropertiesContext(schema.AdditionalProperties.Schema), schema.AdditionalProperties.Schema, path.Key("*"))
	}
}
