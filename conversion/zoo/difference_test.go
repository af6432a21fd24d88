/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompare_Objects_FindsThePlacesThatDiffer(t *testing.T) {
	a := map[string]any{"name": "a", "same": nil, "ports": []any{map[string]any{"port": 1}}, "list": []any{1}}
	b := map[string]any{"name": "b", "ports": []any{map[string]any{"port": 2}}, "list": []any{1, 2}}
	var got []string
	compare(a, b, "", func(path string, _, _ any) { got = append(got, path) })
	if diff := cmp.Diff([]string{"list", "name", "ports[].port"}, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}

func TestDifference_Place_IsCoveredByPathKindAndDirection(t *testing.T) {
	trip := Trip{Kind: "Task", From: "v1beta1", To: "v1"}
	for _, each := range []struct {
		difference Difference
		path       string
		want       bool
	}{
		{Difference{Paths: []string{"spec.steps"}}, "spec.steps[].name", true},
		{Difference{Paths: []string{"spec.steps"}}, "spec.stepsTemplate", false},
		{Difference{Paths: []string{"*.steps[].name"}}, "spec.taskSpec.steps[].name", true},
		{Difference{Paths: []string{"*.steps[].name"}}, "spec.mysteps[].name", false},
		{Difference{Paths: []string{"*.steps$"}}, "spec.taskSpec.steps", true},
		{Difference{Paths: []string{"*.steps$"}}, "spec.taskSpec.steps[].name", false},
		{Difference{Paths: []string{"spec"}, Kind: "Task", From: "v1beta1", To: "v1"}, "spec.steps", true},
		{Difference{Paths: []string{"spec"}, Kind: "TaskRun"}, "spec.steps", false},
		{Difference{Paths: []string{"spec"}, From: "v1"}, "spec.steps", false},
	} {
		known := []*Difference{&each.difference}
		if got := explain(known, trip, each.path); got != each.want {
			t.Errorf("%+v explains %s: %t, want %t", each.difference, each.path, got, each.want)
		}
		if got := len(unused(known)) == 0; got != each.want {
			t.Errorf("%+v is used after %s: %t, want %t", each.difference, each.path, got, each.want)
		}
	}
}

func TestDifference_SeveralPaths_AreUsedEach(t *testing.T) {
	known := []*Difference{{Paths: []string{"spec.a", "spec.b"}, To: "v1"}}
	explain(known, Trip{To: "v1"}, "spec.b")
	if diff := cmp.Diff([]string{"{kind: , from: , to: v1, path: spec.a}"}, unused(known)); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
