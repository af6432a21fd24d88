/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

const classPath = "metadata.annotations[" + samples.ClassAnnotationKey + "]"

// toItself is a reference of an object to one with a name, of the same kind.
func toItself(name string) change {
	return set("spec.ref", map[string]any{"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "name": name})
}

// creations are the rules of the webhook that hold for a new object, and at which versions; rejected ones say in which
// words, accepted ones nothing.
var creations = map[string]struct {
	versions []string
	change   change
	says     []string
}{
	"a class that is no name":                        {versions, classed("Not A Class"), []string{`invalid class "Not A Class"`, classPath}},
	"a class in capitals":                            {versions, classed("Mallard"), []string{`invalid class "Mallard"`, classPath}},
	"a class in small letters":                       {versions, classed("mallard"), nil},
	"an empty class":                                 {versions, classed(""), []string{`invalid class ""`, classPath}},
	"a class of one letter":                          {versions, classed("a"), nil},
	"a class of 254 characters":                      {versions, classed(long(254)), []string{"invalid class", "253", classPath}},
	"a class of 253 characters":                      {versions, classed(long(253)), nil},
	"a reference to itself":                          {referring, all(named("subject-a"), toItself("subject-a")), []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to another object of its kind":      {referring, all(named("subject-b"), toItself("subject")), nil},
	"a reference to itself at another version":       {referring, all(named("subject-c"), toItself("subject-c"), set("spec.ref.apiVersion", "samples.knative.dev/v2")), []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to its name in another group":       {referring, all(named("subject-d"), toItself("subject-d"), set("spec.ref.apiVersion", "example.com/v1")), nil},
	"a reference to its name as another kind":        {referring, all(named("subject-e"), toItself("subject-e"), set("spec.ref.kind", "Other")), nil},
	"a reference to a Service of its name":           {referring, all(named("subject-f"), toItself("subject-f"), core("Service")), nil},
	"a reference to itself with its namespace":       {referring, all(named("subject-g"), toItself("subject-g"), inOwnNamespace), []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to its name in another namespace":   {referring, all(named("subject-h"), toItself("subject-h"), set("spec.ref.namespace", "elsewhere")), nil},
	"a reference to another object in its namespace": {referring, all(named("subject-i"), toItself("subject"), inOwnNamespace), nil},
	"the name of a Service of its name":              {v1alpha1, all(named("subject-j"), set("spec.serviceName", "subject-j")), nil},
	"an empty name of a Service":                     {v1alpha1, set("spec.serviceName", ""), []string{"missing field(s): spec.serviceName"}},
	"no spec":                                        {v1alpha1, unset("spec"), []string{"missing field(s): spec.serviceName"}},
}

func TestValidation_Create_EnforcesEachRule(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for _, version := range versions {
		ns := env.Namespace(t)
		for name, c := range creations {
			if !slices.Contains(c.versions, version) {
				continue
			}
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				_, err := tryCreate(t, env, objectAt(version, ns, c.change))
				checkMessage(t, err, c.says)
			})
		}
	}
}

// updates are the rules of the webhook that hold for changes, written as merge patches of an object of our class.
var updates = map[string]struct {
	versions []string
	patch    string
	says     []string
}{
	"another class":                         {versions, annotate(`"other"`), []string{`the class cannot be changed from "mallard" to "other"`, classPath}},
	"an empty class":                        {versions, annotate(`""`), []string{`the class cannot be changed from "mallard" to ""`, classPath}},
	"a class that is no name":               {versions, annotate(`"Not A Class"`), []string{`the class cannot be changed from "mallard" to "Not A Class"`, classPath}},
	"the same class":                        {versions, annotate(`"mallard"`), nil},
	"no class, which the webhook puts back": {versions, annotate("null"), nil},
	"a reference to itself":                 {referring, `{spec: {ref: {apiVersion: samples.knative.dev/v1, kind: AddressableService, name: subject}}}`, []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to another object":         {referring, `{spec: {ref: {apiVersion: samples.knative.dev/v1, kind: AddressableService, name: other}}}`, nil},
	"the name of another Service":           {v1alpha1, `{spec: {serviceName: other}}`, nil},
	"an empty name of a Service":            {v1alpha1, `{spec: {serviceName: ""}}`, []string{"missing field(s): spec.serviceName"}},
}

func annotate(class string) string {
	return "{metadata: {annotations: {" + samples.ClassAnnotationKey + ": " + class + "}}}"
}

func TestValidation_Update_EnforcesEachRule(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, c := range updates {
		for _, version := range c.versions {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				ns := env.Namespace(t)
				changes := []change{named("subject")}
				if slices.Contains(referring, version) {
					changes = append(changes, unset("spec.ref.namespace"))
				}
				create(t, env, objectAt(version, ns, changes...))
				patched, err := tryPatch(t, version, env, ns, "subject", c.patch)
				checkMessage(t, err, c.says)
				if err == nil && classOf(patched) != samples.ClassMallard {
					t.Errorf("the class is %q now", classOf(patched))
				}
			})
		}
	}
}

// tryPatch merges a patch, in YAML, into an object.
func tryPatch(t *testing.T, version string, env *harness.Env, namespace, name, patch string) (*unstructured.Unstructured, error) {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	return servicesAt(version, env, namespace).Patch(t.Context(), name, types.MergePatchType, asJSON,
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
}

// checkMessage checks that an error is a rejection in these words, or nil without words.
func checkMessage(t *testing.T, err error, words []string) {
	t.Helper()
	switch {
	case err == nil && len(words) > 0:
		t.Errorf("it is accepted, want a rejection that says %q", words)
	case err != nil && len(words) == 0:
		t.Errorf("it is rejected: %v", err)
	}
	for _, word := range words {
		if err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("the rejection does not say %q: %v", word, err)
		}
	}
}
