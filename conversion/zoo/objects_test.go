/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// objectsFile has the hand-made objects of an API, as kubectl takes them.
const objectsFile = "objects.yaml"

// handMade is an object of a file, without its type.
type handMade struct {
	Version string         `json:"version"`
	Kind    string         `json:"kind"`
	Object  map[string]any `json:"object"`
}

// loadObjects reads the hand-made objects of an API.
func (a *API) loadObjects(t testing.TB) []handMade {
	t.Helper()
	var objects []handMade
	for document := range bytes.SplitSeq(read(t, filepath.Join(a.Dir, objectsFile)), []byte("\n---\n")) {
		var object map[string]any
		if err := yaml.UnmarshalStrict(document, &object); err != nil {
			t.Fatalf("reading %s: %v\n%s", objectsFile, err, document)
		}
		version, hasVersion := object["apiVersion"].(string)
		kind, _ := object["kind"].(string)
		if !hasVersion || !slices.Contains(a.Kinds, kind) {
			t.Fatalf("%s: an object needs an apiVersion and one of the kinds %q:\n%s", objectsFile, a.Kinds, document)
		}
		delete(object, "apiVersion")
		delete(object, "kind")
		objects = append(objects, handMade{Version: path.Base(version), Kind: kind, Object: object})
	}
	return objects
}

// objectsTest is a test next to the generated ones, which runs these with the hand-made objects instead of random ones. An object is tried at each
// version that has all of its fields.
var objectsTest = template.Must(template.New("").Parse(`package roundtrip

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"sigs.k8s.io/randfill"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
{{range .Versions}}
	{{.Name}} "{{$.Path .}}"
{{- end}}
)

func TestObjects(t *testing.T) {
	const triesOfEach = {{.Tries}}
{{- range $kind := .Kinds}}
	t.Run("{{$kind}}", func(t *testing.T) {
		kind, tries := conversionOf{{$kind}}(), 0
{{- range $.Versions}}
		{
			fill, objects := handMade[{{.Name}}.{{$kind}}](t, "{{.Name}}", "{{$kind}}")
			kind.Functions = append(kind.Functions, fill)
			tries = max(tries, triesOfEach*objects)
		}
{{- end}}
		t.Setenv(testrand.InputsVariable, strconv.Itoa(tries))
		kind.Test(t)
	})
{{- end}}
}

// handMade returns a function that fills objects with the hand-made ones in turn, and their number.
func handMade[T any](t *testing.T, version, kind string) (func(*T, randfill.Continue), int) {
	content, err := os.ReadFile("testdata/objects.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []struct {
		Version, Kind string
		Object        json.RawMessage
	}
	if err := json.Unmarshal(content, &all); err != nil {
		t.Fatal(err)
	}
	var objects []json.RawMessage
	for _, each := range all {
		if each.Kind != kind {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(each.Object))
		decoder.DisallowUnknownFields()
		switch err := decoder.Decode(new(T)); {
		case err == nil:
			objects = append(objects, each.Object)
		case each.Version == version:
			t.Fatalf("reading %s %s: %v\n%s", version, kind, err, each.Object)
		}
	}
	if objects == nil {
		t.Fatalf("no object can be read as %s %s", version, kind)
	}
	next := 0
	return func(object *T, _ randfill.Continue) {
		*object = *new(T)
		if err := json.Unmarshal(objects[next%len(objects)], object); err != nil {
			t.Fatal(err)
		}
		next++
	}, len(objects)
}
`))

// inputsOfShown is the number by which the generated tests divide that of their inputs for what each two versions show alike.
const inputsOfShown = 6

// Shown returns the command that runs the generated tests of what versions show alike, with as many objects of each kind as are converted there and
// back.
func (p *Project) Shown(ctx context.Context) *exec.Cmd {
	command := p.Command(ctx, "go", "test", "-vet=off", "-run=^TestConversionOf/shown_alike$", "./roundtrip")
	command.Env = append(command.Env, "MALLARD_TEST_SEED=1", fmt.Sprintf("MALLARD_TEST_INPUTS=%d", inputsOfShown*tripsEach))
	return command
}

// writeObjectsTest adds the test with hand-made objects to the generated ones.
func (p *Project) writeObjectsTest(t testing.TB) {
	t.Helper()
	objects, err := json.Marshal(p.api.loadObjects(t))
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "roundtrip/testdata/objects.json", objects)
	values := struct {
		*API

		Tries int
	}{p.api, inputsOfShown}
	p.writeTest(t, "objects_test.go", objectsTest, values)
}
