/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
)

func TestParse_EveryFormat_HasTheSameOperations(t *testing.T) {
	const yamlFile = `
operationType: JQPatch
kind: Deployment
namespace: default
name: nginx
spec: .spec.replicas = 1
---
# nothing
---
operationType: MergePatch
kind: ConfigMap
namespace: default
name: a
spec: {data: {large: 9007199254740993}}
`
	const first, second = `{"operationType":"JQPatch","kind":"Deployment","namespace":"default","name":"nginx","spec":".spec.replicas = 1"}`,
		`{"operation":"MergePatch","kind":"ConfigMap","namespace":"default","name":"a","mergePatch":{"data":{"large":9007199254740993}}}`
	for name, file := range map[string]string{
		"YAML": yamlFile, "JSON stream": first + "\n" + second, "JSON list": "[" + first + "," + second + "]",
		"YAML list": "- " + first + "\n- " + second,
	} {
		parsed, err := Parse([]byte(file))
		operations := parsed.Operations
		if err != nil || len(operations) != 2 {
			t.Errorf("%s: got %d operations, %v", name, len(operations), err)
			continue
		}
		if got := operations[0]; got.Type != crud.TypeJQPatch || got.JQ != ".spec.replicas = 1" || got.Ref != (crud.Ref{Kind: "Deployment", Namespace: "default", Name: "nginx"}) {
			t.Errorf("%s: the first operation is %+v", name, got)
		}
		if got, want := string(operations[1].Patch), `{"data":{"large":9007199254740993}}`; got != want {
			t.Errorf("%s: the patch is %s, want %s", name, got, want)
		}
	}
	if parsed, err := Parse([]byte("\n# a comment\n")); err != nil || len(parsed.Operations) != 0 {
		t.Errorf("an empty file: got %d operations, %v", len(parsed.Operations), err)
	}
}

func TestParse_NamesOfShellOperator_AreAccepted(t *testing.T) {
	for file, want := range map[string]crud.Type{
		`{operation: CreateOrUpdate, object: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: d, name: a}}}`:       crud.TypeCreateOrUpdate,
		`{operation: Delete, apiVersion: v1, kind: Pod, namespace: d, name: a}`:                                           crud.TypeEnsureDeleted,
		`{operation: DeleteInBackground, kind: Pod, namespace: d, name: a}`:                                               crud.TypeEnsureDeletedInBackground,
		`{operation: DeleteNonCascading, kind: Pod, namespace: d, name: a}`:                                               crud.TypeEnsureDeletedOrphaning,
		`{operation: JQPatch, kind: Pod, namespace: d, name: a, jqFilter: ".", subresource: /status}`:                     crud.TypeJQPatch,
		`{operation: JSONPatch, kind: Pod, namespace: d, name: a, jsonPatch: [{op: remove, path: /metadata/labels}]}`:     crud.TypeJSONPatch,
		`{operation: MergePatch, kind: Pod, namespace: d, name: a, mergePatch: '{"spec":{}}', ignoreMissingObject: true}`: crud.TypeMergePatch,
	} {
		// In a list, so that it is YAML.
		parsed, err := Parse([]byte("- " + file))
		if err != nil || parsed.Operations[0].Type != want {
			t.Errorf("%s: got %+v, %v", file, parsed, err)
		}
	}
}

func TestParse_Header_SetsThePlan(t *testing.T) {
	const header = `{"file": {"onFailure": "continue", "preflight": "static"}}`
	const operation = `{"operationType":"JQPatch","kind":"Pod","namespace":"d","name":"a","statusPatch":true,"applyOnHookError":true,"spec":"."}`
	for _, content := range []string{header + operation, "[" + header + "," + operation + "]", "---\n" + header + "\n---\n" + operation} {
		file, err := Parse([]byte(content))
		if err != nil || !file.Continue || !file.SkipPreflight || len(file.Operations) != 1 || len(file.OnHookError) != 1 {
			t.Errorf("%s: got %+v, %v", content, file, err)
		}
	}
	for _, off := range []string{"off", "'off'"} {
		if file, err := Parse([]byte("file: {preflight: " + off + "}")); err != nil || !file.SkipPreflight {
			t.Errorf("preflight: %s: got %+v, %v", off, file, err)
		}
	}
	if file, err := Parse([]byte(operation)); err != nil || file.Continue || file.SkipPreflight {
		t.Errorf("without header: got %+v, %v", file, err)
	}
}

func TestParse_TextsInFields_AreDocuments(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"JSON in YAML":        {"operation: MergePatch\nkind: Pod\nnamespace: d\nname: a\nmergePatch: |\n  {\"spec\": {\"a\": 9007199254740993}}\n", `{"spec":{"a":9007199254740993}}`},
		"YAML in YAML":        {"operation: MergePatch\nkind: Pod\nnamespace: d\nname: a\nmergePatch: |\n  spec:\n    a: \"1\"\n", `{"spec":{"a":"1"}}`},
		"YAML in JSON":        {`{"operation":"MergePatch","kind":"Pod","namespace":"d","name":"a","mergePatch":"spec:\n  a: 1"}`, `{"spec":{"a":1}}`},
		"YAML in braces":      {"operation: MergePatch\nkind: Pod\nnamespace: d\nname: a\nmergePatch: '{spec: {a: 1}}'", `{"spec":{"a":1}}`},
		"line break in JSON":  {"{\"operation\":\"MergePatch\",\"kind\":\"Pod\",\"namespace\":\"d\",\"name\":\"a\",\"mergePatch\":\"{\n \\\"a\\\": 1}\"}", `{"a":1}`},
		"line break in value": {"{\"operation\":\"MergePatch\",\"kind\":\"Pod\",\"namespace\":\"d\",\"name\":\"a\",\"spec\":{\"a\":\"1\n2\"}}", `{"a":"1\n2"}`},
		"document marker":     {"{\"operation\":\"MergePatch\",\"kind\":\"Pod\",\"namespace\":\"d\",\"name\":\"a\",\"spec\":{\"a\":\"1\n---\n...\n%A\n# 2\"}}", `{"a":"1\n---\n...\n%A\n# 2"}`},
		"control character":   {`{"operation":"MergePatch","kind":"Pod","namespace":"d","name":"a","spec":{"a":"\u007f"}}`, "{\"a\":\"\x7f\"}"},
	} {
		file, err := Parse([]byte(test.file))
		if err != nil || string(file.Operations[0].Patch) != test.want {
			t.Errorf("%s: got %+v, %v, want %s", name, file.Operations, err, test.want)
		}
	}
	for want, file := range map[string]string{
		"5:13 (operation 1): the text of mergePatch: 1:1: the document ends": "operation: MergePatch\nkind: Pod\nnamespace: d\nname: a\nmergePatch: '{\"a}'",
		"5:9 (operation 1): the text of object: it has more than one":        "operation: Create\nkind: Pod\nnamespace: d\nname: a\nobject: \"a: 1\\n---\\nb: 1\"",
		"5:9 (operation 1): object must be an object, not a list":            "operation: Create\nkind: Pod\nnamespace: d\nname: a\nobject: '[]'",
	} {
		if _, err := Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the message is\n%v\nwant\n%s", file, err, want)
		}
	}
}

func TestParse_ObjectWithoutNamespace_HasThatOfTheOperation(t *testing.T) {
	file, err := Parse([]byte("operationType: Create\nnamespace: there\nspec: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"))
	if err != nil || file.Operations[0].Object.GetNamespace() != "there" {
		t.Errorf("got %+v, %v", file.Operations, err)
	}
}

func TestT34_Parse_Mistakes_HaveLineColumnAndNumber(t *testing.T) {
	const good = `{"operationType":"JQPatch","kind":"Pod","namespace":"d","name":"a","spec":"."}` + "\n"
	for want, file := range map[string]string{
		"3:1 (operation 3): an operation must be an object, not a string": good + good + `"x"`,
		"2:1 (operation 2): the document ends":                            good + `{"operationType":"JQPatch","kind":"Pod`,
		"2:1 (operation 2): operationType is missing":                     good + `{"kind":"Pod"}`,
		"1:43 (operation 1): kind is set already at 1:29":                 `{"operationType":"JQPatch", "kind":"Pod", "kind":"Pod","namespace":"d","name":"a","spec":"."}`,
		"4:3 (operation 1): a is set already at 3:3":                      "operationType: MergePatch\nspec:\n  a: 1\n  a: 2",
		"4:3 (operation 1): yes is set already at 3:3":                    "operationType: MergePatch\nspec:\n  \"true\": 1\n  yes: 2",
		"4:3 (operation 1): 16 is set already at 3:3":                     "operationType: MergePatch\nspec:\n  0x10: 1\n  '16': 2",
		"3:1 (operation 1): operation is set already at 1:1":              "operationType: MergePatch\nkind: Pod\noperation: JQPatch",
		"5:1 (operation 1): field ignoreMissingObjects does not exist: did you mean ignoreMissingObject?": `operationType: JQPatch
kind: Pod
namespace: d
name: a
ignoreMissingObjects: true
spec: .`,
		"1:16 (operation 1): operation \"JQpatsh\" does not exist: did you mean JQPatch?": "operationType: JQpatsh",
		"1:16 (operation 1): operation \"\" does not exist":                               "operationType: ''",
		"2:14 (header): preflight must be full or static or off, not \"\"":                "file:\n  preflight: ''",
		"1:16 (operation 1): operationType must be a string, not a number":                "operationType: 1",
		"1:1 (operation 1): JQPatch needs spec":                                           "operationType: JQPatch\nkind: Pod\nname: a",
		"3:7 (operation 1): spec must be a string, not a list":                            "operationType: JQPatch\nkind: Pod\nspec: []",
		"3:1 (operation 1): EnsureDeleted does not have spec":                             "operationType: EnsureDeleted\nkind: Pod\nspec: {}",
		"3:1 (operation 1): jqFilter does not belong to MergePatch: use spec":             "operationType: MergePatch\nkind: Pod\njqFilter: .",
		"2:1 (operation 1): namespace is \"x\", and \"d\" in the object":                  "operationType: Create\nnamespace: x\nspec: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: d}}",
		`1:1 (operation 1): parsing the jq program: unexpected token "("`:                 "operationType: JQPatch\nkind: Pod\nname: a\nspec: .foo(",
		"1:1 (operation 1): operation 0 of the JSON patch: op \"set\" does not exist":     "operationType: JSONPatch\nkind: Pod\nname: a\nspec: [{op: set, path: /a}]",
		"5:7 (operation 1): wait must be a duration with its unit such as 30s":            "operationType: EnsureDeleted\nkind: Pod\nnamespace: d\nname: a\nwait: 30",
		"3:1 (operation 1): onImmutable \"x\" does not exist: use fail or recreate":       "operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: Pod, metadata: {name: a}}\nonImmutable: x",
		"4:1 (operation 1): wait does not belong to MergePatch":                           "operationType: MergePatch\nkind: Pod\nname: a\nwait: 1s\nspec: {}",
		"3:14 (operation 1): subresource must be status or /status, not \"scale\"":        "operationType: EnsureDeleted\nkind: Pod\nsubresource: scale",
		"1:44 (header): onFailure must be stop or continue, not \"go\"":                   `{"file": {"preflight": "off", "onFailure": "go"}}`,
		"1:11 (header): field parallel does not exist: use onFailure, preflight":          `{"file": {"parallel": 4}}`,
		"1:14 (header): field kind does not exist: use file":                              `{"file": {}, "kind": "Pod"}`,
		"2:2 (operation 2): field file does not exist":                                    good + `{"file": {}}`,
		"6:1 (operation 1): ignoreHookError belongs to patches with statusPatch": `operationType: JQPatch
kind: Pod
namespace: d
name: a
spec: .
ignoreHookError: true`,
		"1:2 (operation 1): the file is not UTF-8 text: byte 0x00": "a\x00",
		// What may be a value of a Secret is not shown.
		"1:35 (operation 1): the integer has more than 64 bits":                            `{"operationType":"MergePatch","x":99999999999999999999}`,
		"2:8 (operation 1): the integer has more than 64 bits":                             "operationType: MergePatch\nx: {y: 0xFFFFFFFFFFFFFFFF}",
		"1:35 (operation 1): the number is too large":                                      `{"operationType":"MergePatch","x":1e999}`,
		"1:1 (operation 1): a value of the document has no form in JSON: quote it":         "operationType: MergePatch\nx: .inf",
		"1:1 (operation 1): a value of the document has no form in JSON: quote it ":        "operationType: MergePatch\nx: !!int hunter2",
		"2:1 (operation 1): the document continues after its end":                          "\n---\na: b\n...\nc: d",
		"1:1 (operation 1): an alias refers to no anchor: quote a text that begins with *": "operationType: MergePatch\nx: *hunter2",
		"2:1 (operation 1): mapping values are not allowed in this context":                "a: b\nc: d: e",
		"2:1 (operation 2): invalid character '}' looking for beginning of value":          good + "}",
	} {
		parsed, err := Parse([]byte(file))
		failed, ok := errors.AsType[*Error](err)
		if !ok || parsed.Operations != nil {
			t.Errorf("%q: got %d operations, %v", file, len(parsed.Operations), err)
			continue
		}
		if !strings.Contains(failed.Error(), want) {
			t.Errorf("%q: the message is\n%s\nwant\n%s", file, failed, want)
		}
	}
}

func TestParse_ByteOrderMarkAndCRLF_AreReadAsWithoutThem(t *testing.T) {
	const file = "operationType: Create\nobject:\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n  data:\n    text: |\n      first\n      second\n" +
		"---\n{operationType: EnsureDeleted, kind: Pod, name: b}\n"
	want, err := Parse([]byte(file))
	if err != nil || len(want.Operations) != 2 {
		t.Fatalf("got %d operations, %v", len(want.Operations), err)
	}
	windows := strings.ReplaceAll(file, "\n", "\r\n")
	for _, text := range []string{"\ufeff" + file, windows, "\ufeff" + windows, "\ufeff---\r\n" + windows} {
		got, err := Parse([]byte(text))
		if diff := cmp.Diff(want.Operations, got.Operations, cmpopts.IgnoreUnexported(crud.Operation{})); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestParse_ManyMistakes_ReportsTen(t *testing.T) {
	_, err := Parse([]byte(strings.Repeat("- {}\n", 20)))
	failed, ok := errors.AsType[*Error](err)
	if !ok || len(failed.Faults) != mostFaults || failed.Faults[9].Operation != 10 || failed.Faults[9].Line != 10 {
		t.Errorf("got %+v", failed)
	}
}

// A file that is cut or changed anywhere is rejected or read, and never ends the process.
func TestParse_RandomFiles_DoNotPanic(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	files := []string{
		`[{"operationType":"JQPatch","kind":"Pod","namespace":"d","name":"a","spec":"."},{"operation":"Create","object":{"a":[1,2.5e3,null,true]}}]`,
		"operationType: CreateOrUpdate\nspec: &a\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a, namespace: d}\n  data: {k: |\n    text\n  }\n---\n- *a\n",
	}
	const inputs = 10_000
	for i := range inputs {
		file := []byte(files[i%len(files)])
		for range 1 + random.IntN(4) {
			at := random.IntN(len(file))
			switch random.IntN(3) {
			case 0:
				file = file[:at+1]
			case 1:
				file[at] = "{}[]:,\"'-&*!|>#\n \t0a\x00\xff"[random.IntN(22)]
			case 2:
				file = append(file[:at:at], append([]byte(files[random.IntN(2)][:random.IntN(20)]), file[at:]...)...)
			}
		}
		parsed, err := Parse(file)
		if err != nil && parsed.Operations != nil {
			t.Fatalf("%q has operations and the mistakes %v", file, err)
		}
		for _, operation := range parsed.Operations {
			if err := operation.Validate(); err != nil {
				t.Fatalf("%q has the invalid operation %+v: %v", file, operation, err)
			}
		}
	}
}

func TestParse_RandomJSON_IsExact(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var randomValue func(depth int) any
	randomValue = func(depth int) any {
		switch n := random.IntN(7); {
		case n == 0:
			return random.Int64() - random.Int64()
		case n == 1:
			return random.NormFloat64()
		case n == 2:
			return fmt.Sprintf("\u00e9\n\"%c\\", rune(random.IntN(0x1ffff)))
		case n == 3:
			return nil
		case n == 4 || depth == 0:
			return random.IntN(2) == 0
		case n == 5:
			list := []any{}
			for range random.IntN(4) {
				list = append(list, randomValue(depth-1))
			}
			return list
		}
		fields := map[string]any{}
		for i := range random.IntN(4) {
			fields[fmt.Sprint("k", i)] = randomValue(depth - 1)
		}
		return fields
	}
	for range 1000 {
		want, err := json.Marshal(map[string]any{"v": randomValue(4)})
		if err != nil {
			t.Fatal(err)
		}
		read, err := newReader(want, &room{}, false).read(0)
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		got, err := json.Marshal(read.content)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v: %s", err, cmp.Diff(string(want), string(got)))
		}
	}
}

// YAML has other escapes, characters and limits than JSON.
func TestParse_JSONThatIsNoYAML_IsRead(t *testing.T) {
	for name, spec := range map[string]string{
		"surrogates": `{"\ud83d\ude00":"\ud83d","\ud83d\ude01":"\\ud83d"}`, "tabs": "{\t\"a\"\t:\t[\n\t1\t,\t-2.5e3,null]\n\t}", "escapes": `{"a\/\b\f\u0000":"\u2028"}`,
		"characters": "{\"\u0080\":\"\x7f\u0085\u2028\ufeff\uffff\",\"\u0081\":1}", "empty": `{"":[{},[],""],"a":{"":0}}`, "texts": `{"a":"yes","b":"# no","c":"- x: *y","d":"---"}`,
		"name": `{"` + strings.Repeat("k", 2000) + `"` + "\n:\n" + `0}`,
	} {
		_, wrong := Parse([]byte("{\"operationType\":\"MergePatch\",\"kind\":\"Pod\",\"name\":\"a\",\n\"spec\":" + spec + ",\n\"nome\":1}"))
		if want := fmt.Sprint(3+strings.Count(spec, "\n"), ":1 (operation 1): field nome does not exist: did you mean name?"); wrong == nil || wrong.Error() != want {
			t.Errorf("%s: got %v, want %s", name, wrong, want)
		}
		file, err := Parse([]byte(`{"operationType":"MergePatch","kind":"Pod","name":"a","spec":` + spec + "}"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var want any
		if err := json.Unmarshal([]byte(spec), &want); err != nil {
			t.Fatal(err)
		}
		if encoded, err := json.Marshal(want); err != nil || string(encoded) != string(file.Operations[0].Patch) {
			t.Errorf("%s: got %s, want %s", name, file.Operations[0].Patch, encoded)
		}
	}
}

// The fields of an operation mean what they mean to kubectl, too: YAML 1.1 has more booleans and octal numbers, and quotes make a text.
func TestParse_YAML11_InAnyField_IsReadAsByKubectl(t *testing.T) {
	const patch = "operationType: JQPatch\nkind: Pod\nname: a\nspec: .\n"
	const deletion = "operationType: EnsureDeleted\nkind: Pod\nname: a\n"
	for text, has := range map[string]func(crud.Operation) bool{
		patch + "ignoreMissing: on":          func(op crud.Operation) bool { return op.IgnoreMissing },
		patch + "statusPatch: Yes":           func(op crud.Operation) bool { return op.StatusPatch },
		patch + "ignoreMissing: n":           func(op crud.Operation) bool { return !op.IgnoreMissing },
		deletion + "gracePeriodSeconds: 010": func(op crud.Operation) bool { return op.GracePeriodSeconds != nil && *op.GracePeriodSeconds == 8 },
		"operationType: CreateOrUpdate\nspec: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, immutable: yes}": func(op crud.Operation) bool {
			content, _ := op.Object.(*unstructured.Unstructured)
			return content.Object["immutable"] == true
		},
	} {
		file, err := Parse([]byte(text))
		if err != nil || !has(file.Operations[0]) {
			t.Errorf("%s: got %+v, %v", text, file.Operations, err)
		}
	}
	for text, want := range map[string]string{
		deletion + "wait: yes":           "wait must be a string, not a boolean",
		patch + "namespace: no":          "namespace must be a string, not a boolean",
		patch + "ignoreMissing: \"yes\"": "ignoreMissing must be true or false, not a string",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want one with %q", text, err, want)
		}
	}
}

// Values that are nested without end must not exhaust the stack, which would end the process.
func TestParse_DeepNesting_IsRejected(t *testing.T) {
	const operation = "operationType: MergePatch\nkind: ConfigMap\nname: a\nspec: "
	for name, file := range map[string]string{
		"JSON": strings.Repeat("[", MostBytes), "JSON objects": strings.Repeat(`{"a":`, MostBytes/5), "an alias in itself": operation + "&a {b: *a}",
		"JSON in a text": operation + "'" + strings.Repeat("[", mostMarks/2) + "'",
	} {
		if _, err := Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), "nested more than 10000 levels deep") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	if _, err := Parse([]byte(strings.Repeat("[", mostLevels) + strings.Repeat("]", mostLevels))); err == nil || strings.Contains(err.Error(), "nested") {
		t.Errorf("the most levels: %v", err)
	}
}

func TestParse_LargerThanTheLimits_IsRejected(t *testing.T) {
	const operation = `{"operationType":"EnsureDeleted","kind":"Pod","namespace":"d","name":"a"}`
	const patch, mostName = "operationType: MergePatch\nkind: ConfigMap\nnamespace: d\nname: a\nspec:\n  data: b\n  ", 1022
	quoted := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	for file, want := range map[string]string{
		strings.Repeat(" ", MostBytes+1):                 "the file has 16777217 bytes, more than 16777216",
		strings.Repeat(operation+"\n", MostOperations+1): "the file has more than 10000 operations",
		patch + quoted(mostName+1) + ": b\n":             "7:1 (operation 1): could not find expected ':'",
	} {
		if parsed, err := Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) || len(parsed.Operations) > 0 {
			t.Errorf("got %d operations, %.200v, want %q", len(parsed.Operations), err, want)
		}
	}
	if parsed, err := Parse([]byte(strings.Repeat(operation+"\n", MostOperations))); err != nil || len(parsed.Operations) != MostOperations {
		t.Errorf("the most operations: got %d, %v", len(parsed.Operations), err)
	}
	for _, name := range []string{quoted(mostName) + ": b", "? " + quoted(10*mostName) + "\n  : b"} {
		if _, err := Parse([]byte(patch + name)); err != nil {
			t.Errorf("the longest name: %.200v", err)
		}
	}
}
