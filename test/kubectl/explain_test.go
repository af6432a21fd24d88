/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kubectl

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestExplain_Fields_AreAllDescribed(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	crd, err := env.CRDs.ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	// The API server describes these itself.
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(schema.Properties, name)
	}
	recursive := flat(env.Kubectl(t, "explain", "asvc", "--recursive"))
	explain(t, env, "asvc", schema, recursive)
}

// explain checks what kubectl says of each field of an object, and of each in those.
func explain(t *testing.T, env *harness.Env, path string, schema *apiextensionsv1.JSONSchemaProps, recursive string) {
	t.Helper()
	t.Run(path, func(t *testing.T) {
		t.Parallel()
		out := flat(env.Kubectl(t, "explain", path))
		if !strings.Contains(out, flat(schema.Description)) || schema.Description == "" {
			t.Errorf("kubectl explain %s does not say %q", path, schema.Description)
		}
		for name, field := range schema.Properties {
			heading := name + " <" + typeOf(field) + ">"
			if !strings.Contains(recursive, heading) {
				t.Errorf("kubectl explain --recursive does not list %s", heading)
			}
			if slices.Contains(schema.Required, name) {
				heading += " -required-"
			}
			if len(field.Enum) > 0 {
				// How many of the values it lists is up to kubectl.
				heading += " enum: "
			}
			_, rest, found := strings.Cut(out, " "+heading)
			description := flat(field.Description)
			if at := strings.Index(rest, description); !found || description == "" || at < 0 || strings.Contains(rest[:at], "<") {
				t.Errorf("kubectl explain %s does not say %q and then %q, but:\n%s", path, heading, description, out)
			}
			switch {
			case field.Items != nil && field.Items.Schema.Type == "object":
				items := *field.Items.Schema
				items.Description = field.Description
				explain(t, env, path+"."+name, &items, recursive)
			case len(field.Properties) > 0:
				explain(t, env, path+"."+name, &field, recursive)
			}
		}
	})
}

// flat is a text with single spaces: kubectl rewraps lines.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// typeOf returns kubectl's name for the type of a field.
func typeOf(field apiextensionsv1.JSONSchemaProps) string {
	switch {
	case field.Type == "object" && field.AdditionalProperties != nil:
		return "map[string]" + field.AdditionalProperties.Schema.Type
	case field.Type == "object":
		return "Object"
	case field.Type == "array" && field.Items.Schema.Type == "object":
		return "[]Object"
	case field.Type == "array":
		return "[]" + field.Items.Schema.Type
	default:
		return field.Type
	}
}
