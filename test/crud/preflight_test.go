/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"errors"
	"testing"

	"github.com/mallard-dev/mallard/crud"
)

// The preflight needs the permissions of the requests that the plan sends, and no others.
func TestPreflight_MissingPermission_CountsOnlyIfItIsUsed(t *testing.T) {
	s := newScene(t)
	limited := s.env.As(t, s.account(`[{apiGroups: [""], resources: [configmaps], verbs: [get, patch]}]`))
	client, err := crud.New(limited.Config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		s.run(crud.Create(s.configMap(name, nil)), crud.Created)
	}
	run := func(deleted string) ([]crud.Result, error) {
		return client.RunPlan(t.Context(), crud.Plan{Operations: []crud.Operation{
			crud.JQPatch(s.ref("ConfigMap", "a"), `.data.k = "1"`),
			crud.CreateOrUpdate(s.configMap("b", map[string]string{"k": "1"})),
			crud.EnsureDeleted(s.ref("ConfigMap", deleted)),
		}})
	}
	if results, err := run("c"); crud.ClassOf(err) != crud.Forbidden || !endedWith(results, crud.NotRun, crud.NotRun, crud.NotRun) {
		t.Errorf("the outcomes are %s, the error is %v", outcomes(results), err)
	}
	if results, err := run("absent"); err != nil || !endedWith(results, crud.Updated, crud.Updated, crud.AlreadyAbsent) {
		t.Errorf("the outcomes are %s, the error is %v", outcomes(results), err)
	}
}

func TestPreflight_SeveralMistakes_AreReportedTogether(t *testing.T) {
	s := newScene(t)
	absent := crud.MergePatch(s.ref("ConfigMap", "absent"), `{"data":{"k":"1"}}`)
	results, err := s.client.RunPlan(t.Context(), crud.Plan{Operations: []crud.Operation{
		crud.Create(s.configMap("a", nil)), absent, absent, crud.EnsureDeleted(s.ref("Nonsense", "a")), crud.EnsureDeleted(s.ref("Nonsense", "b")),
	}})
	var numbers []int
	for _, one := range crud.Errors(err) {
		if numbered, ok := errors.AsType[*crud.NumberedError](one); ok {
			numbers = append(numbers, numbered.Number)
		}
	}
	if len(numbers) != 3 || numbers[0] != 2 || numbers[1] != 4 || numbers[2] != 5 || results[0].Outcome != crud.NotRun {
		t.Errorf("the outcomes are %s, the error is %v", outcomes(results), err)
	}
}
