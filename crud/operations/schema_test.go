/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

func TestSchema_Files_AreCurrent(t *testing.T) {
	for path, generate := range map[string]func() ([]byte, error){"schema.json": Schema, "../../docs/reference/operation-files.md": Reference} {
		if _, err := os.Stat("../../docs/README.md"); err != nil && filepath.Ext(path) == ".md" {
			continue // a fork may have generated documents only
		}
		want, err := generate()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
			t.Errorf("%s: run make generate: %v\n%s", path, err, diff)
		}
	}
}

// agreement compares the parser with the schema.
type agreement struct {
	*testing.T
	schema *jsonschema.Schema
}

func newAgreement(t *testing.T) agreement {
	t.Helper()
	content, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return agreement{t, compiled}
}

// valid checks that the parser and the schema judge a file alike, and returns how.
func (a agreement) valid(file []byte) bool {
	a.Helper()
	encoded, err := yaml.YAMLToJSON(file)
	if err != nil {
		a.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		a.Fatal(err)
	}
	_, rejected := Parse(append([]byte("---\n"), file...)) // so that it is YAML
	invalid := a.schema.Validate(value)
	if (rejected == nil) != (invalid == nil) {
		a.Errorf("%s: the parser returns %v, and the schema %v", file, rejected, invalid)
	}
	return rejected == nil
}

func TestSchema_Samples_AgreeWithTheParser(t *testing.T) {
	a := newAgreement(t)
	for _, file := range []string{
		`file: {onFailure: continue, dryRun: true, preflight: "off"}`,
		`[{file: {}}, {operation: Delete, kind: Pod, namespace: d, name: a}]`,
		`{operationType: Create, spec: {kind: Pod, metadata: {generateName: a}}}`,
		`{operation: CreateOrUpdate, onTerminating: wait, wait: 1m30s, object: {apiVersion: v1, kind: Pod, metadata: {name: a}}}`,
		`{operation: Create, object: '{"kind": "Pod", "metadata": {"name": "a"}}'}`,
		`{operation: JSONPatch, kind: Pod, name: a, jsonPatch: [{op: add, path: /a, value: 1}], subresource: status}`,
		`{operation: MergePatch, kind: Pod, name: a, mergePatch: '{"status": {}}', statusPatch: true, ignoreHookError: true}`,
		`{operation: JQPatch, kind: Pod, name: a, jqFilter: ., subresource: status, applyOnHookError: true, preconditions: {uid: b}}`,
	} {
		if !a.valid([]byte(file)) {
			t.Errorf("%s is rejected", file)
		}
	}
	for _, file := range []string{
		`{}`, `[[]]`, `[text]`, `text`,
		`{file: {}, kind: Pod}`, `file: []`, `{file: {onFailure: go}}`, `{file: {parallel: 2}}`,
		`{operation: Delete, operationType: Delete, kind: Pod, name: a}`,
		`{operation: Delete, name: a}`, `{operation: Delete, kind: Pod}`, `{operation: Remove, kind: Pod, name: a}`,
		`{operation: Delete, kind: Pod, name: a, statusPatch: true}`, `{operation: Delete, kind: Pod, name: a, wait: "30"}`,
		`{operation: Delete, kind: Pod, name: a, wait: -1s}`, `{operation: Delete, kind: Pod, name: a, preconditions: {name: a}}`,
		`{operation: Delete, kind: Pod, name: a, spec: {}}`, `{operation: Delete, kind: Pod, name: 1}`,
		`{operation: JQPatch, kind: Pod, name: a}`, `{operation: JQPatch, kind: Pod, name: a, spec: {}}`,
		`{operation: JQPatch, kind: Pod, name: a, spec: ., jqFilter: .}`, `{operation: JQPatch, kind: Pod, name: a, mergePatch: .}`,
		`{operation: JQPatch, kind: Pod, name: a, spec: ., applyOnHookError: true}`,
		`{operation: JQPatch, kind: Pod, name: a, spec: ., ignoreMissing: true, ignoreMissingObject: true}`,
		`{operation: JSONPatch, kind: Pod, name: a, spec: {}}`, `{operation: JSONPatch, kind: Pod, name: a, spec: [{op: set, path: /a}]}`,
		`{operation: JSONPatch, kind: Pod, name: a, spec: [{op: remove, path: a}]}`,
		`{operation: MergePatch, kind: Pod, name: a, spec: []}`,
		`{operation: Create, spec: {kind: Pod, metadata: {}}}`, `{operation: Create, spec: {metadata: {name: a}}}`, `{operation: Create, spec: []}`,
		`{operation: CreateOrUpdate, spec: {kind: Pod, metadata: {generateName: a}}}`,
	} {
		if a.valid([]byte(file)) {
			t.Errorf("%s is accepted", file)
		}
	}
}

func TestSchema_EachFieldOfEachType_AgreesWithTheParser(t *testing.T) {
	a := newAgreement(t)
	accepted, rejected := 0, 0
	for name, of := range typeNames {
		minimal := map[string]any{"operation": name, "kind": "ConfigMap", "name": "a"}
		if spec := specs[of]; spec.schema != nil {
			minimal["spec"] = spec.example
		}
		for _, one := range operationFields {
			if _, ok := minimal[one.name]; ok || one.name == typeField {
				continue
			}
			for _, name := range names([]fieldType{one}) {
				for _, value := range []any{one.value.example, one.value.unset, 1, []string{"a"}, "nothing such", map[string]any{"a": 1}} {
					operation := maps.Clone(minimal)
					operation[name] = value
					encoded, err := json.Marshal(operation)
					if err != nil {
						t.Fatal(err)
					}
					if a.valid(encoded) {
						accepted++
					} else {
						rejected++
					}
				}
			}
		}
	}
	if accepted < 200 || rejected < 200 {
		t.Errorf("accepted %d files and rejected %d", accepted, rejected)
	}
}
