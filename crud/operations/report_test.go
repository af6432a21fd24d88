/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
)

const three = `
operationType: Create
spec: {apiVersion: v1, kind: Secret, metadata: {namespace: d, name: a}, stringData: {password: hidden}}
---
{operationType: EnsureDeleted, kind: po, namespace: d, name: b}
---
{operationType: MergePatch, kind: Pod, namespace: d, name: c, spec: {spec: {}}}
`

func TestReport_JSON_HasResultsWithoutContents(t *testing.T) {
	file, err := Parse([]byte(three))
	if err != nil {
		t.Fatal(err)
	}
	results := []crud.Result{
		{Outcome: crud.Created, Attempts: 1, Warnings: []string{"old"}, Object: file.Operations[0].Object.(*unstructured.Unstructured)},
		{Outcome: crud.Failed, Attempts: 8},
		{Outcome: crud.NotRun},
	}
	failed := &crud.NumberedError{Number: 2, Err: &crud.Error{Operation: "EnsureDeleted po d/b", Class: crud.Conflict, Err: errors.New("it changed")}}
	got, err := json.MarshalIndent(file.Report(results, errors.Join(failed)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "state": "Again",
  "operations": [
    {
      "operationType": "Create",
      "apiVersion": "v1",
      "kind": "Secret",
      "namespace": "d",
      "name": "a",
      "outcome": "Created",
      "attempts": 1,
      "warnings": [
        "old"
      ]
    },
    {
      "operationType": "EnsureDeleted",
      "kind": "po",
      "namespace": "d",
      "name": "b",
      "outcome": "Failed",
      "errorClass": "Conflict",
      "error": "EnsureDeleted po d/b: Conflict: it changed",
      "attempts": 8
    },
    {
      "operationType": "MergePatch",
      "kind": "Pod",
      "namespace": "d",
      "name": "c",
      "outcome": "NotRun",
      "attempts": 0
    }
  ]
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestReport_State_IsThatOfTheWorstError(t *testing.T) {
	file, err := Parse([]byte(three))
	if err != nil {
		t.Fatal(err)
	}
	numbered := func(number int, class crud.Class) error {
		return &crud.NumberedError{Number: number, Err: &crud.Error{Class: class, Err: errors.New("failed")}}
	}
	succeeded := []crud.Result{{Outcome: crud.Created}, {Outcome: crud.Deleted}, {Outcome: crud.Updated}}
	deleting := []crud.Result{{Outcome: crud.Created}, {Outcome: crud.Deleting}, {Outcome: crud.Updated}}
	dry := file
	dry.DryRun = true
	for name, tc := range map[string]struct {
		file    File
		results []crud.Result
		err     error
		want    State
	}{
		"success":             {file, succeeded, nil, Done},
		"deletion is delayed": {file, deleting, nil, Again},
		"dry run":             {dry, deleting, nil, Done},
		"may pass":            {file, succeeded, errors.Join(numbered(1, crud.Terminating), numbered(2, crud.Uncertain)), Again},
		"one does not pass":   {file, deleting, errors.Join(numbered(1, crud.Invalid), numbered(2, crud.Conflict)), Failed},
		"of no operation":     {file, succeeded, errors.New("stopped"), Failed},
	} {
		if got := tc.file.Report(tc.results, tc.err); got.State != tc.want || (name == "of no operation") != (got.Error != "") {
			t.Errorf("%s: the state is %s with the error %q, want %s", name, got.State, got.Error, tc.want)
		}
	}
}
