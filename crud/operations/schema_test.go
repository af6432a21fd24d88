/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/mallard-dev/mallard/crud"
)

func TestSchema_SchemaAndPage_HaveEachField(t *testing.T) {
	type object struct{ Properties map[string]json.RawMessage }
	var schema struct {
		Definitions struct {
			Document struct {
				Then struct {
					Properties struct{ File object }
				}
				Else object
			}
		}
	}
	if err := json.Unmarshal(Schema, &schema); err != nil { //nolint:musttag // encoding/json ignores case
		t.Fatal(err)
	}
	document := schema.Definitions.Document
	var preconditions object
	if err := json.Unmarshal(document.Else.Properties["preconditions"], &preconditions); err != nil { //nolint:musttag // as above
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/reference/operation-files.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a fork may have no documents
		t.Fatal(err)
	}
	for _, of := range []struct {
		fields []fieldType
		in     object
	}{{operationFields, document.Else}, {preconditionFields, preconditions}, {fileFields, document.Then.Properties.File}} {
		if diff := cmp.Diff(slices.Sorted(slices.Values(names(of.fields))), slices.Sorted(maps.Keys(of.in.Properties))); diff != "" {
			t.Errorf("schema.json: -parser, +schema:\n%s", diff)
		}
		for _, f := range of.fields {
			if f.name == typeField || f.name == specField {
				continue // the table of operations has them
			}
			rows := regexp.MustCompile("(?m)^\\| `"+f.name+"` \\|.*$").FindAllString(string(page), -1)
			if len(page) > 0 && len(rows) != 1 {
				t.Errorf("the page has %d rows of %s, want one", len(rows), f.name)
			}
			for _, alias := range f.aliases {
				if len(rows) == 1 && !strings.Contains(rows[0], "`"+alias+"`") {
					t.Errorf("the row of %s lacks %s", f.name, alias)
				}
			}
		}
	}
	if len(page) == 0 {
		return
	}
	for name, of := range typeNames {
		if !regexp.MustCompile("(?m)^\\| `"+string(of)+"`.*\\|").Match(page) || !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page has no operation %s with the name %s", of, name)
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
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
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
		`file: {onFailure: continue, preflight: "off"}`,
		`[{file: {}}, {operation: Delete, kind: Pod, namespace: d, name: a}]`,
		`{operationType: Create, spec: {kind: Pod, metadata: {generateName: a}}}`,
		`{operation: CreateOrUpdate, wait: 1m30s, object: {apiVersion: v1, kind: Pod, metadata: {name: a}}}`,
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

// examples are values of fields, and unset ones that mean the same as no field.
var examples = map[string][]any{
	"apiVersion": {"a", ""}, "kind": {"a", ""}, "namespace": {"a", ""}, "name": {"a", ""}, "ownedBy": {"a", ""},
	"spec": {nil}, "statusPatch": {true, false}, "subresource": {"status", ""}, "preconditions": {map[string]any{"uid": "a"}, map[string]any{}},
	"ignoreMissing": {true, false}, "ignoreMissingPaths": {true, false}, "applyOnHookError": {true, false},
	"strategy": {"merge"}, "onImmutable": {"fail"}, "gracePeriodSeconds": {0}, "wait": {"1s", "0s"},
}

// specs are examples of spec.
var specs = map[crud.Type]any{
	crud.TypeCreateOrUpdate: example, crud.TypeCreate: example, crud.TypeCreateIfNotExists: example,
	crud.TypeJQPatch: ".", crud.TypeJSONPatch: []any{}, crud.TypeMergePatch: map[string]any{},
}

var example = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}

func TestSchema_EachFieldOfEachType_AgreesWithTheParser(t *testing.T) {
	a := newAgreement(t)
	accepted, rejected := 0, 0
	for name, of := range typeNames {
		minimal := map[string]any{"operation": name, "kind": "ConfigMap", "name": "a"}
		if spec := specs[of]; spec != nil {
			minimal["spec"] = spec
		}
		for _, one := range operationFields {
			if _, ok := minimal[one.name]; ok || one.name == typeField {
				continue
			}
			for _, name := range names([]fieldType{one}) {
				for _, value := range append([]any{nil, 1, []string{"a"}, "nothing such", map[string]any{"a": 1}}, examples[one.name]...) {
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
