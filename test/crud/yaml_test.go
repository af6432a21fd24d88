/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// yamlDifferences are the rows of docs/reference/operation-files.md by a pattern of the documents to which they apply.
var yamlDifferences = map[string]*regexp.Regexp{
	"a key that occurs twice, also as `yes` and `\"true\"`": regexp.MustCompile(`(?m)\ndata: .*\ndata: |data: \{a: b, a: c\}|data:\n  a: b\n  'a': c|data: \{(1|0x1|yes|on): a, (1|'1'|yes|"true"): b\}`),
	"an integer with more than 64 bits":                     regexp.MustCompile(`\n  a: (-?922337203685477580[89]|184467440737095516\d\d|12345678901234567890123|0x8000000000000000)\n`),
	"content after `---` in the same line":                  regexp.MustCompile(`^--- \{`),
	"several documents in the text of a field":              regexp.MustCompile(`(?s)name: d\d+-a\}\n.*---|"name": "d\d+-a"`),
	"a line break in a string of JSON":                      regexp.MustCompile(`"b\n c"`),
	"`items` in an object whose kind is not a list's":       regexp.MustCompile(`kind: ConfigMap\n.*\nitems: `),
}

// TestYAML_ManyDocuments_MeanWhatTheyMeanToKubectl compares objects that kubectl and operation files read from the same text.
func TestYAML_ManyDocuments_MeanWhatTheyMeanToKubectl(t *testing.T) {
	env := harness.Shared(t)
	var files []string
	for _, s := range yamlScalars {
		files = append(files, yamlObject("")+"data:\n  a: "+s+"\n")
	}
	for _, s := range yamlKeys {
		files = append(files, yamlObject("")+"data:\n  "+s+": x\n")
	}
	files = append(files, yamlManifests...)
	dir := t.TempDir()
	for i := range files {
		files[i] = strings.ReplaceAll(files[i], "NAME", fmt.Sprintf("d%03d", i))
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("d%03d.yaml", i)), []byte(files[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	byFile := readByKubectl(t, env, dir)
	if len(files) < 300 || len(byFile) < 200 {
		t.Fatalf("kubectl reads %d of %d documents", len(byFile), len(files))
	}
	differs := map[string]bool{}
	for i, file := range files {
		operation, err := json.Marshal(map[string]any{"operationType": "Create", "object": file})
		if err != nil {
			t.Fatal(err)
		}
		parsed, parseErr := operations.Parse(operation)
		want := byFile[fmt.Sprintf("d%03d", i)]
		if nested := nestedIn("operationType: Create\nobject:\n", file); len(want) == 1 && differenceOf(file) == "" {
			parsed, err := operations.Parse([]byte(nested))
			if diff := cmp.Diff(want, objectsOf(t, parsed)); diff != "" {
				t.Errorf("%q: %v (-kubectl +crud):\n%s", nested, err, diff)
			}
		}
		if diff := cmp.Diff(want, objectsOf(t, parsed)); diff != "" {
			row := differenceOf(file)
			if differs[row] = true; row == "" {
				t.Errorf("%q: %v (-kubectl +crud):\n%s", file, parseErr, diff)
			}
		}
	}
	page, err := os.ReadFile("../../docs/reference/operation-files.md")
	if err != nil {
		t.Fatal(err)
	}
	for row := range yamlDifferences {
		if !differs[row] || !strings.Contains(string(page), "\n| "+row+" | ") {
			t.Errorf("%s: differs: %v; the page must have a row for each difference", row, differs[row])
		}
	}
	if rows := regexp.MustCompile(`(?s)\n## YAML\n.*?\n## `).FindString(string(page)); strings.Count(rows, "\n| ") != len(yamlDifferences)+1 {
		t.Errorf("the page has other rows than %d differences:\n%s", len(yamlDifferences), rows)
	}
}

// readByKubectl returns the objects that kubectl reads from each file of a folder, by the first characters of their names.
func readByKubectl(t *testing.T, env *harness.Env, dir string) map[string][]any {
	t.Helper()
	byFile := map[string][]any{}
	// It fails, since some documents are invalid, and prints the objects of the others.
	out, _ := env.TryKubectl(t, "", "create", "--dry-run=client", "--validate=false", "--output=json", "--filename="+dir)
	number := regexp.MustCompile(`^d\d{3}`)
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var object json.RawMessage
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("reading the output of kubectl: %v", err)
		}
		u := objectOf(t, object)
		byFile[number.FindString(u.GetName())] = append(byFile[number.FindString(u.GetName())], u.Object)
	}
	return byFile
}

// beforeObject matches what precedes the content of a document, and afterObject what follows it.
var (
	beforeObject = regexp.MustCompile(`^\x{feff}?(?:(?:[%#].*|---(?: #.*)?)?\n)*`)
	afterObject  = regexp.MustCompile(`(?s)\n(?:\.\.\.|---)\n.*$|$`)
)

// nestedIn returns a document whose object is the value of the last field in a header.
func nestedIn(header, document string) string {
	before := beforeObject.FindString(document)
	object := document[len(before):]
	after := afterObject.FindString(object)
	object = strings.TrimSuffix(object, after)
	if strings.Contains(object, "\r\n") {
		header = strings.ReplaceAll(header, "\n", "\r\n")
	}
	return before + header + "  " + strings.ReplaceAll(strings.TrimSuffix(object, "\n"), "\n", "\n  ") + "\n" + after
}

// objectsOf returns the objects that a file creates.
func objectsOf(t *testing.T, file operations.File) (objects []any) {
	t.Helper()
	for _, op := range file.Operations {
		object, err := json.Marshal(op.Object)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, objectOf(t, object).Object)
	}
	return objects
}

// objectOf decodes an object without the namespace, which kubectl adds.
func objectOf(t *testing.T, encoded []byte) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(encoded, &u.Object); err != nil {
		t.Fatal(err)
	}
	u.SetNamespace("")
	return u
}

// differenceOf returns the row of the page that applies to a document, or nothing.
func differenceOf(file string) string {
	for row, pattern := range yamlDifferences {
		if pattern.MatchString(file) {
			return row
		}
	}
	return ""
}
