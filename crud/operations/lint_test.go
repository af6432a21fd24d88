/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLint_OperationsThatDoNotFitOthers_AreReported(t *testing.T) {
	const (
		write       = `{"operation":"CreateOrUpdate","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"d","name":"a"}}}`
		create      = `{"operation":"Create","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"d","name":"a"}}}`
		generate    = `{"operation":"Create","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"d","generateName":"a"}}}`
		other       = `{"operation":"CreateOrUpdate","object":{"apiVersion":"example.com/v1","kind":"ConfigMap","metadata":{"namespace":"d","name":"a"}}}`
		patient     = `{"operation":"CreateOrUpdate","onTerminating":"wait","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"d","name":"a"}}}`
		remove      = `{"operation":"EnsureDeleted","kind":"configmap","namespace":"d","name":"a"}`
		await       = `{"operation":"EnsureDeleted","kind":"ConfigMap","namespace":"d","name":"a","wait":"1m"}`
		merge       = `{"operation":"MergePatch","kind":"ConfigMap","namespace":"d","name":"a","mergePatch":{"data":{"k":"1"}}}`
		elsewhere   = `{"operation":"MergePatch","kind":"ConfigMap","namespace":"d","name":"b","mergePatch":{"data":{"k":"1"}}}`
		optimistic  = `{"operation":"MergePatch","kind":"ConfigMap","namespace":"d","name":"b","mergePatch":{"metadata":{"resourceVersion":"1"}}}`
		optimistic2 = `{"operation":"JQPatch","kind":"ConfigMap","namespace":"d","name":"b","jqFilter":".","preconditions":{"resourceVersion":"1"}}`
		appends     = `{"operation":"JSONPatch","kind":"ConfigMap","namespace":"d","name":"c","jsonPatch":[{"op":"add","path":"/list/-","value":1}]}`
	)
	for _, tc := range []struct {
		file []string
		want []string
	}{
		{[]string{write, merge, elsewhere, other, generate, generate}, nil},
		{[]string{await, write}, nil},
		{[]string{remove, patient}, nil},
		{[]string{remove, await}, nil},
		{[]string{optimistic, create}, nil},
		{[]string{write, elsewhere, remove}, []string{"3:1 (operation 3): EnsureDeleted of configmap d/a follows operation 1, which creates the object"}},
		{[]string{create, write}, []string{"2:1 (operation 2): CreateOrUpdate of ConfigMap d/a follows operation 1, which writes the whole object, too"}},
		{[]string{remove, write}, []string{"which deletes the object without waiting: set wait there"}},
		{[]string{remove, merge}, []string{"2:1 (operation 2): MergePatch of ConfigMap d/a follows operation 1, which deletes the object"}},
		{[]string{await, merge}, []string{"which deletes the object"}},
		{[]string{generate, optimistic}, []string{"2:1 (operation 2): MergePatch requires a resourceVersion", "operation 1, which is not repeatable"}},
		{[]string{elsewhere, appends, optimistic2}, []string{"3:1 (operation 3): JQPatch requires a resourceVersion", "operation 2, which is not repeatable"}},
	} {
		content := strings.Join(tc.file, "\n")
		file, err := Parse([]byte(content))
		if err != nil {
			t.Fatal(err)
		}
		faults := file.Lint()
		if (len(faults) == 0) != (len(tc.want) == 0) || len(faults) > 1 {
			t.Errorf("%s: got %s, want %s", content, faults, tc.want)
			continue
		}
		for _, want := range tc.want {
			if !strings.Contains(fmt.Sprint(faults), want) {
				t.Errorf("%s: got %s, want %q in it", content, faults, want)
			}
		}
	}
}

func TestLint_YAML_HasPositions(t *testing.T) {
	file, err := Parse([]byte("file: {dryRun: true}\n---\n- {operation: Delete, kind: Pod, namespace: d, name: a}\n" +
		"- operation: MergePatch\n  kind: Pod\n  namespace: d\n  name: a\n  spec: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Fault{{4, 3, 2, "MergePatch of Pod d/a follows operation 1, which deletes the object"}}
	if diff := cmp.Diff(want, file.Lint()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
