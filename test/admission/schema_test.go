/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestSchema_Bounds_RejectBeyondAndAcceptTheNearest(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for version, bounds := range bounds {
		ns := env.Namespace(t)
		subject := create(t, env, objectAt(version, ns))
		for _, b := range bounds {
			t.Run(version+" "+b.String(), func(t *testing.T) {
				t.Parallel()
				for _, change := range b.rejected {
					checkRejected(t, env, subject, objectAt(version, ns, change), b.rejectionBehindWebhook())
				}
				for _, change := range b.accepted {
					checkAccepted(t, env, objectAt(version, ns, change))
				}
			})
		}
	}
}

func checkAccepted(t *testing.T, env *harness.Env, sent *unstructured.Unstructured) {
	t.Helper()
	stored, err := tryCreate(t, env, sent)
	if err != nil {
		t.Errorf("the spec %v is rejected: %v", sent.Object["spec"], err)
		return
	}
	if diff := gocmp.Diff(sent.Object["spec"], stored.Object["spec"]); diff != "" {
		t.Errorf("the spec was changed on its way (-sent, +stored):\n%s", diff)
	}
	read := get(t, versionOf(sent), env, stored.GetNamespace(), stored.GetName())
	if diff := gocmp.Diff(sent.Object["spec"], read.Object["spec"]); diff != "" {
		t.Errorf("the spec reads back differently (-sent, +read):\n%s", diff)
	}
}

// checkRejected sends a bad object as a new one and as an update of a good one.
func checkRejected(t *testing.T, env *harness.Env, subject, bad *unstructured.Unstructured, want rejection) {
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
	_, err = servicesAt(versionOf(bad), env, subject.GetNamespace()).Patch(t.Context(), subject.GetName(), types.JSONPatchType, patch,
		metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict})
	want.check(t, bad, err)
}
