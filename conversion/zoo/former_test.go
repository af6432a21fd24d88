/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

const (
	// formerVariable is the environment variable that names the file with objects that the other project converted.
	formerVariable = "ZOO_FORMER"
	// formerEach is the number of these objects of each kind and direction.
	formerEach = 100
)

// stored is an object that the other project converted, with annotations that keep what the version cannot show.
type stored struct {
	Trip

	// original is the object before, and back what the other project makes of the converted one.
	original, back json.RawMessage
}

// formerDir is the folder of an API with the hooks that read these annotations, and the markers that they need. They are no part of the project that
// other tests try, because a hook of a kind may be about all of its fields.
const (
	formerDir     = "former"
	formerMarkers = "markers.yaml"
)

// withFormer is the API with these hooks and markers, or the API itself if it has none.
func (a *API) withFormer(t testing.TB) *API {
	t.Helper()
	file := filepath.Join(a.Dir, formerDir, formerMarkers)
	if _, err := os.Stat(file); err != nil {
		return a
	}
	var added map[string]map[string][]string
	if err := yaml.UnmarshalStrict(read(t, file), &added); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	with := *a
	with.Versions = slices.Clone(a.Versions)
	for i, version := range with.Versions {
		with.Versions[i].Markers = maps.Clone(version.Markers)
		if version.Markers == nil {
			with.Versions[i].Markers = make(map[string][]string)
		}
		for name, markers := range added[version.Name()] {
			with.Versions[i].Markers[name] = slices.Concat(version.Markers[name], markers)
		}
	}
	return &with
}

// Former are the annotations in which the conversions of the other project keep values.
func (a *API) Former() []string {
	for _, marker := range a.Versions[len(a.Versions)-1].Markers[packageMarkers] {
		if names, ok := strings.CutPrefix(marker, "conversion-gen:former="); ok {
			return strings.Split(names, ",")
		}
	}
	return nil
}

// hasAnnotation reports whether an object has one of some annotations.
func (a *API) hasAnnotation(t testing.TB, object json.RawMessage, names []string) bool {
	t.Helper()
	metadata, _ := a.visible(t, object)["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return slices.ContainsFunc(names, func(name string) bool { return annotations[name] != nil })
}

// formerTest is a test next to the generated ones. It converts objects that the other project stored, expects that they keep their values from then on,
// and writes the converted ones.
var formerTest = template.Must(template.New("").Parse(`package roundtrip

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/conversiontest"
)

func TestFormer(t *testing.T) {
	kinds := map[string]conversiontest.Kind{
{{- range .Kinds}}
		"{{.}}": conversionOf{{.}}(),
{{- end}}
	}
	in, err := os.Open(os.Getenv("` + formerVariable + `"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(os.Getenv("` + tripsVariable + `"))
	if err != nil {
		t.Fatal(err)
	}
	encoder := json.NewEncoder(out)
	for decoder := json.NewDecoder(in); ; {
		var trip struct {
			Kind, From, To string
			Object         json.RawMessage
		}
		if err := decoder.Decode(&trip); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		kind := kinds[trip.Kind]
		at := func(name string) metav1.Object {
			for _, version := range kind.Versions {
				if version.Name == name {
					return version.New()
				}
			}
			t.Fatalf("there is no version %s", name)
			return nil
		}
		stored, converted, back, again := at(trip.From), at(trip.To), at(trip.From), at(trip.To)
		if err := json.Unmarshal(trip.Object, stored); err != nil {
			t.Fatal(err)
		}
		text := func(object any) []byte {
			content, err := json.Marshal(object)
			if err == nil {
				content, err = conversion.Canonical(content)
			}
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
		convert := kind.Converters[0]
		err := errors.Join(convert(t.Context(), stored, converted), convert(t.Context(), converted, back), convert(t.Context(), back, again))
		if err != nil {
			t.Fatalf("%v\n%s", err, trip.Object)
		}
		if !bytes.Equal(text(converted), text(again)) {
			t.Fatalf("%s %s → %s → %s → %s\nbefore %s\nafter  %s", trip.Kind, trip.From, trip.To, trip.From, trip.To, text(converted), text(again))
		}
		if err := encoder.Encode(map[string]any{"kind": trip.Kind, "from": trip.From, "to": trip.To, "converted": converted}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}
`))

// readsFormer expects that objects which the other project stored are read without a loss that its own conversion does not have.
func (p *Project) readsFormer(t *testing.T, objects []stored) {
	t.Helper()
	if len(objects) == 0 {
		t.Fatal("no converted object has an annotation of the other project")
	}
	if with := p.api.withFormer(t); with != p.api {
		p = with.assemble(t, t.TempDir(), p.flags)
		p.copyFolder(t, filepath.Join(with.Dir, formerDir), "")
		run(t, p.Command(t.Context(), builtGenerator(t), "--input-dirs", p.Versions()))
	}
	file, results := filepath.Join(p.dir, "former"), filepath.Join(p.dir, "former-trips")
	var text strings.Builder
	for _, each := range objects {
		if err := json.NewEncoder(&text).Encode(each.Trip); err != nil {
			t.Fatal(err)
		}
	}
	p.write(t, filepath.Base(file), []byte(text.String()))
	command := p.Command(t.Context(), "go", "test", "-vet=off", "-run=^TestFormer", "./roundtrip")
	command.Env = append(command.Env, formerVariable+"="+file, tripsVariable+"="+results)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	converted, err := os.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	read, reported, known := make(map[string]int), make(map[string]bool), p.api.loadDifferences(t).Former
	decoder := json.NewDecoder(converted)
	for _, each := range objects {
		var trip Trip
		if err := decoder.Decode(&trip); err != nil {
			t.Fatalf("reading a trip: %v", err)
		}
		read[fmt.Sprintf("%s %s → %s", trip.Kind, trip.From, trip.To)]++
		for path, difference := range p.lostFormer(t, each, trip.Converted) {
			place := fmt.Sprintf("{kind: %s, from: %s, to: %s, path: %s}", trip.Kind, trip.From, trip.To, path)
			if !explain(known, trip, path) && !reported[place] {
				t.Errorf("an object that upstream stored is read with a loss: %s\n  %s", place, difference)
			}
			reported[place] = true
		}
	}
	if err := converted.Close(); err != nil {
		t.Error(err)
	}
	for _, each := range unused(known) {
		t.Errorf("no stored object differs as %s explains: %s", differencesFile, each)
	}
	t.Logf("objects that upstream stored, read without loss: %v", read)
}

// lostFormer are the places where a converted object differs from the original, and that of the other project does not.
func (p *Project) lostFormer(t testing.TB, from stored, converted json.RawMessage) map[string]string {
	t.Helper()
	original := p.api.visible(t, from.original)
	var theirs []string
	compare(original, p.api.visible(t, from.back), "", func(path string, _, _ any) { theirs = append(theirs, path) })
	lost := make(map[string]string)
	compare(original, p.api.visible(t, converted), "", func(path string, before, after any) {
		isTheirs := func(other string) bool { return isAtOrBelow(path, other) || isAtOrBelow(other, path) }
		if !slices.ContainsFunc(theirs, isTheirs) {
			lost[path] = "before: " + brief(before) + "\n  after: " + brief(after)
		}
	})
	return lost
}
