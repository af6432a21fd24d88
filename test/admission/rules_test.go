/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/harness"
)

const classPath = "metadata.annotations[" + samples.ClassAnnotationKey + "]"

// toItself is a reference of an object to one with a name, of its own kind.
func toItself(name string) change {
	return set("spec.ref", map[string]any{"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "name": name})
}

// creations are the rules of the webhook that hold for a new object; refused ones say in which words, accepted ones nothing.
var creations = map[string]struct {
	change change
	says   []string
}{
	"a class that is no name":                        {classed("Not A Class"), []string{`invalid class "Not A Class"`, classPath}},
	"a class in capitals":                            {classed("Mallard"), []string{`invalid class "Mallard"`, classPath}},
	"a class in small letters":                       {classed("mallard"), nil},
	"an empty class":                                 {classed(""), []string{`invalid class ""`, classPath}},
	"a class of one letter":                          {classed("a"), nil},
	"a class of 254 characters":                      {classed(long(254)), []string{"invalid class", "253", classPath}},
	"a class of 253 characters":                      {classed(long(253)), nil},
	"a reference to itself":                          {all(named("subject-a"), toItself("subject-a")), []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to another object of its kind":      {all(named("subject-b"), toItself("subject")), nil},
	"a reference to itself at another version":       {all(named("subject-c"), toItself("subject-c"), set("spec.ref.apiVersion", "samples.knative.dev/v2")), []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to its name in another group":       {all(named("subject-d"), toItself("subject-d"), set("spec.ref.apiVersion", "example.com/v1")), nil},
	"a reference to its name as another kind":        {all(named("subject-e"), toItself("subject-e"), set("spec.ref.kind", "Other")), nil},
	"a reference to a Service of its name":           {all(named("subject-f"), toItself("subject-f"), core("Service")), nil},
	"a reference to itself with its namespace":       {all(named("subject-g"), toItself("subject-g"), inOwnNamespace), []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to its name in another namespace":   {all(named("subject-h"), toItself("subject-h"), set("spec.ref.namespace", "elsewhere")), nil},
	"a reference to another object in its namespace": {all(named("subject-i"), toItself("subject"), inOwnNamespace), nil},
}

func TestEachRuleOfTheWebhookForNewObjects(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	for name, c := range creations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tryCreate(t, env, object(ns, c.change))
			checkWords(t, err, c.says)
		})
	}
}

// updates are the rules of the webhook that hold for changes, written as merge patches of an object of our class.
var updates = map[string]struct {
	patch string
	says  []string
}{
	"another class":                         {annotate(`"other"`), []string{`the class cannot be changed from "mallard" to "other"`, classPath}},
	"an empty class":                        {annotate(`""`), []string{`the class cannot be changed from "mallard" to ""`, classPath}},
	"a class that is no name":               {annotate(`"Not A Class"`), []string{`the class cannot be changed from "mallard" to "Not A Class"`, classPath}},
	"the same class":                        {annotate(`"mallard"`), nil},
	"no class, which the webhook puts back": {annotate("null"), nil},
	"a reference to itself":                 {`{spec: {ref: {apiVersion: samples.knative.dev/v1, kind: AddressableService, name: subject}}}`, []string{"cannot refer to itself", "spec.ref.name"}},
	"a reference to another object":         {`{spec: {ref: {apiVersion: samples.knative.dev/v1, kind: AddressableService, name: other}}}`, nil},
}

func annotate(class string) string {
	return "{metadata: {annotations: {" + samples.ClassAnnotationKey + ": " + class + "}}}"
}

func TestEachRuleOfTheWebhookForUpdates(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, c := range updates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := env.Namespace(t)
			create(t, env, object(ns, named("subject"), unset("spec.ref.namespace")))
			patch, err := yaml.YAMLToJSON([]byte(c.patch))
			if err != nil {
				t.Fatal(err)
			}
			patched, err := services(env, ns).Patch(t.Context(), "subject", types.MergePatchType, patch, metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
			checkWords(t, err, c.says)
			if err == nil && classOf(patched) != samples.ClassMallard {
				t.Errorf("the class is %q now", classOf(patched))
			}
		})
	}
}

// checkWords checks that an error is a refusal in these words, or that there is none if there are no words.
func checkWords(t *testing.T, err error, words []string) {
	t.Helper()
	switch {
	case err == nil && len(words) > 0:
		t.Errorf("it is accepted, want a refusal that says %q", words)
	case err != nil && len(words) == 0:
		t.Errorf("it is refused: %v", err)
	}
	for _, word := range words {
		if err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("the refusal does not say %q: %v", word, err)
		}
	}
}
