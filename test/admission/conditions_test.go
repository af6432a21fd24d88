/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// subjectFields are valid, invalid and hostile values of the fields of a subject with rules that the schema does not express.
var subjectFields = map[string][]any{
	"namespace": {"", "default", "a b", "a\n", nil},
	"selector": {
		map[string]any{},
		selecting("a", "b"), selecting("", "b"), selecting("a/b", "c"), selecting("A/b", "c"), selecting("a/b/c", "d"),
		selecting("/a", "b"), selecting("a-", "b"), selecting("ä", "b"), selecting("a\n", "b"), selecting("A.b_c-d", "e"),
		selecting("a", "not a value"), selecting("a", "b\n"), selecting("a", ""), selecting("a", "-b"), selecting("a", "b_c.d-e"), selecting("a", "ä"),
		selecting("a", long(63)), selecting("a", long(64)), selecting(long(63), "a"), selecting(long(64), "a"),
		selecting(long(253)+"/a", "b"), selecting(long(254)+"/a", "b"),
		expecting("In", "b"), expecting("In"), expecting("Exists"), expecting("Exists", "b"), expecting("Like", "b"), expecting("NotIn", "not a value"),
	},
}

func selecting(key, value string) map[string]any {
	return map[string]any{"matchLabels": map[string]any{key: value}}
}

func expecting(operator string, values ...any) map[string]any {
	return map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": operator, "values": values}}}
}

// TestConditions_AnySubject_IsJudgedAsByValidate compares the verdict of the API server, which calls the validating webhook only for what meets a
// condition, with that of Validate.
func TestConditions_AnySubject_IsJudgedAsByValidate(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	client := env.Dynamic.Resource(v1.SchemeGroupVersion.WithResource("addressbindings")).Namespace(ns)
	rejected := 0
	for field, values := range subjectFields {
		for _, value := range values {
			subject := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "it"}
			if field == "selector" {
				delete(subject, "name")
			}
			if subject[field] = value; value == nil {
				delete(subject, field)
			}
			object := &unstructured.Unstructured{Object: map[string]any{
				"metadata": map[string]any{"generateName": "it-", "namespace": ns},
				"spec":     map[string]any{"address": map[string]any{"name": "it"}, "subject": subject},
			}}
			object.SetGroupVersionKind(v1.SchemeGroupVersion.WithKind("AddressBinding"))
			want := validateBinding(t.Context(), object)
			_, err := client.Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if (err == nil) != (want == nil) {
				t.Errorf("%s %#v: got error %v, Validate returns %v", field, value, err, want)
			}
			if want != nil {
				rejected++
			}
		}
	}
	if rejected < 15 {
		t.Errorf("%d subjects are rejected, want most of them", rejected)
	}
}

// TestConditions_RandomObjects_AreAdmittedAsByValidate compares the schema, the conditions and the webhooks together with the code of the webhook.
func TestConditions_RandomObjects_AreAdmittedAsByValidate(t *testing.T) {
	t.Parallel()
	compareRandomObjects(t, harness.Shared(t))
}

// validateBinding returns the errors of a new object, or that of its conversion to the Go type.
func validateBinding(ctx context.Context, object *unstructured.Unstructured) error {
	binding := &v1.AddressBinding{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, binding); err != nil {
		return err
	}
	if err := binding.Validate(apis.WithinCreate(ctx)).Filter(apis.ErrorLevel); err != nil {
		return err
	}
	return nil
}

// The conditions of webhooks have a limit of cost, and the API server rejects a request that exceeds it.
func TestConditions_ManyAnnotations_AreAdmitted(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	annotations := map[string]string{}
	for i := range 25_000 { // with the class less than 256 KiB, the limit of the API server
		annotations[fmt.Sprintf("k%d", i)] = "val"
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := objectAt(version, env.Namespace(t), func(o *unstructured.Unstructured) { o.SetAnnotations(annotations) })
			if _, err := tryCreate(t, env, o); err != nil {
				t.Error(err)
			}
		})
	}
}
