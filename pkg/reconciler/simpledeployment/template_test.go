/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
)

func TestTemplate_Pod_DependsOnTheSpecOnly(t *testing.T) {
	sd := object(1, variable("A", "1"), variable("B", ""))
	want := `{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": {
			"name": "a-` + hashOf([]byte(owner), uidDigits) + `-3", "namespace": "ns",
			"labels": {
				"samples.knative.dev/simpledeployment": "a",
				"samples.knative.dev/simpledeployment-uid": "uid-a",
				"samples.knative.dev/simpledeployment-revision": "` + revisionOf(sd) + `"
			},
			"ownerReferences": [{
				"apiVersion": "samples.knative.dev/v1alpha1", "kind": "SimpleDeployment", "name": "a", "uid": "uid-a",
				"controller": true, "blockOwnerDeletion": true
			}]
		},
		"spec": {"containers": [{"name": "user-container", "image": "one", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": ""}]}]}
	}`
	content, err := json.Marshal(podFor(sd, 3))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parsed(t, want), parsed(t, string(content))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestTemplate_Revision_ChangesWithTheTemplate(t *testing.T) {
	same := []*v1alpha1.SimpleDeployment{
		object(1), object(5),
		object(1, func(sd *v1alpha1.SimpleDeployment) { sd.Generation, sd.Labels = 9, map[string]string{"a": "b"} }),
		object(1, func(sd *v1alpha1.SimpleDeployment) { sd.Spec.Configurable = &duckv1alpha1.Configurable{} }),
	}
	for i, sd := range same {
		if got := revisionOf(sd); got != revisionOf(object(1)) {
			t.Errorf("number %d has revision %s: it would be rolled out though its Pods are the same", i, got)
		}
	}
	// The labels that an earlier operator wrote: a newer one must not replace its Pods.
	if got, want := revisionOf(object(1)), "92c35803e08cb14b"; got != want {
		t.Errorf("the revision of image one is %s, want %s", got, want)
	}
	seen := map[string]int{}
	for i, sd := range []*v1alpha1.SimpleDeployment{
		object(1), object(1, image("two")), object(1, variable("A", "1")), object(1, variable("A", "2")), object(1, variable("B", "1")),
		object(1, variable("A", "1"), variable("B", "1")), object(1, variable("B", "1"), variable("A", "1")),
	} {
		if other, ok := seen[revisionOf(sd)]; ok {
			t.Errorf("numbers %d and %d have the same revision", other, i)
		}
		seen[revisionOf(sd)] = i
	}
}
