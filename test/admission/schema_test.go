/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/test/harness"
)

func TestEveryBoundRefusesWhatIsBeyondItAndAcceptsTheNearest(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	subject := create(t, env, object(ns))
	for _, b := range bounds {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			for _, change := range b.refused {
				checkRefused(t, env, subject, object(ns, change), b.refusalBehindWebhook())
			}
			for _, change := range b.accepted {
				checkAccepted(t, env, object(ns, change))
			}
			// What the webhook reads it writes back as Go does, which leaves out an optional field that has Go's zero value.
			for path, zero := range b.zero {
				stored, want := create(t, env, object(ns, set(path, zero))), create(t, env, object(ns, unset(path)))
				if diff := gocmp.Diff(want.Object["spec"], stored.Object["spec"]); diff != "" {
					t.Errorf("%s: %v was not taken for none (-want, +stored):\n%s", path, zero, diff)
				}
			}
		})
	}
}

// The schema must not rely on the webhook, which may be down.
func TestEveryBoundHoldsWithoutTheWebhook(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithoutWebhooks("webhook"), harness.Without("controller"))
	ns := env.Namespace(t)
	subject := create(t, env, object(ns))
	for _, b := range bounds {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			for _, change := range b.refused {
				checkRefused(t, env, subject, object(ns, change), b.refusal())
			}
			for path, zero := range b.zero {
				checkRefused(t, env, subject, object(ns, set(path, zero)), b.refusal())
			}
			for _, change := range b.accepted {
				checkAccepted(t, env, object(ns, change))
			}
		})
	}
}

func checkAccepted(t *testing.T, env *harness.Env, sent *unstructured.Unstructured) {
	t.Helper()
	stored, err := tryCreate(t, env, sent)
	if err != nil {
		t.Errorf("the spec %v is refused: %v", sent.Object["spec"], err)
		return
	}
	if diff := gocmp.Diff(sent.Object["spec"], stored.Object["spec"]); diff != "" {
		t.Errorf("the spec was changed on its way (-sent, +stored):\n%s", diff)
	}
}

// checkRefused sends a bad object as a new one and as an update of a good one.
func checkRefused(t *testing.T, env *harness.Env, subject, bad *unstructured.Unstructured, want refusal) {
	t.Helper()
	_, err := tryCreate(t, env, bad)
	want.check(t, bad, err)

	replacement := map[string]any{"op": "replace", "path": "/spec", "value": bad.Object["spec"]}
	if bad.Object["spec"] == nil {
		replacement = map[string]any{"op": "remove", "path": "/spec"}
	}
	patch, err := json.Marshal([]any{replacement})
	if err != nil {
		t.Fatal(err)
	}
	_, err = services(env, subject.GetNamespace()).Patch(t.Context(), subject.GetName(), types.JSONPatchType, patch,
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
	want.check(t, bad, err)
}

// refusal is what the API server is to say of a bad object.
type refusal struct {
	// path is the field, with [] for the items of a list; below, whether it may be fields in it.
	path  string
	below bool
	says  string
}

func (b bound) refusal() refusal { return refusal{path: cmp.Or(b.field, b.path), says: b.says} }

// refusalBehindWebhook differs for a field that is missing: the webhook writes back what it has read, and so adds the
// field with an empty value, which the field's own bound refuses.
func (b bound) refusalBehindWebhook() refusal {
	if b.keyword != "required" {
		return b.refusal()
	}
	return refusal{path: b.path, below: true, says: "should be at least 1 chars long"}
}

var index = regexp.MustCompile(`\[\d+\]`)

// check checks that an error refuses an object for the field and no other.
func (r refusal) check(t *testing.T, bad *unstructured.Unstructured, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("the spec %v is accepted", bad.Object["spec"])
		return
	}
	said := false
	for _, cause := range causesOf(t, err) {
		field := index.ReplaceAllString(cause.Field, "[]")
		switch {
		case field == r.path, r.below && strings.HasPrefix(field, r.path+"."):
			said = said || strings.Contains(cause.Message, r.says)
		case field == "<nil>" && strings.Contains(cause.Message, "some validation rules were not checked"):
			// The API server says so whenever it has not come to the CEL rules.
		default:
			t.Errorf("the refusal of the spec %v names the field %q, want %q only: %v", bad.Object["spec"], cause.Field, r.path, err)
		}
	}
	if !said {
		t.Errorf("the refusal of the spec %v does not say %q of %s: %v", bad.Object["spec"], r.says, r.path, err)
	}
}

func TestEveryBoundHasACase(t *testing.T) {
	t.Parallel()
	want := map[string]bool{}
	for _, schema := range schemas(t) {
		collect(t, schema, "", want)
	}
	got := map[string]bool{}
	for _, b := range bounds {
		if len(b.refused)+len(b.zero) == 0 || len(b.accepted) == 0 {
			t.Errorf("%s: the case has nothing that is refused, or nothing that is accepted", b)
		}
		got[b.String()] = true
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("bounds of the schema and cases differ (-schema, +cases):\n%s", diff)
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
			// TestEveryFieldRefusesValuesOfOtherTypes is about these.
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

// schemas returns the schema of each version, without what users do not write: metadata has bounds of Kubernetes', and the
// status is the operator's.
func schemas(t *testing.T) []map[string]any {
	t.Helper()
	definition, err := harness.Shared(t).Definitions.ApiextensionsV1().CustomResourceDefinitions().Get(
		t.Context(), resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading the definition: %v", err)
	}
	var schemas []map[string]any
	for _, version := range definition.Spec.Versions {
		root := version.Schema.OpenAPIV3Schema
		root.Properties = map[string]apiextensionsv1.JSONSchemaProps{"spec": root.Properties["spec"]}
		schema, err := runtime.DefaultUnstructuredConverter.ToUnstructured(root)
		if err != nil {
			t.Fatalf("reading a schema: %v", err)
		}
		schemas = append(schemas, schema)
	}
	return schemas
}
