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
		{Difference{Path: "spec.steps"}, "spec.steps[].name", true},
		{Difference{Path: "spec.steps"}, "spec.stepsTemplate", false},
		{Difference{Path: "*.steps[].name"}, "spec.taskSpec.steps[].name", true},
		{Difference{Path: "*.steps[].name"}, "spec.mysteps[].name", false},
		{Difference{Path: "spec", Kind: "Task", From: "v1beta1", To: "v1"}, "spec.steps", true},
		{Difference{Path: "spec", Kind: "TaskRun"}, "spec.steps", false},
		{Difference{Path: "spec", From: "v1"}, "spec.steps", false},
	} {
		known := []*Difference{&each.difference}
		if got := explain(known, trip, each.path); got != each.want {
			t.Errorf("%s explains %s: %t, want %t", &each.difference, each.path, got, each.want)
		}
		if got := len(unused(known)) == 0; got != each.want {
			t.Errorf("%s is used after %s: %t, want %t", &each.difference, each.path, got, each.want)
		}
	}
}
