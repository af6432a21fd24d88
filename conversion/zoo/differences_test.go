/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const differencesFile = "differences.yaml"

// Differences are the known differences between the conversions of assign-gen and those of the other project.
type Differences struct {
	// Converted are differences of converted objects.
	Converted []*Difference `json:"converted,omitempty"`
	// Lost are changes that the conversions of the other project make to an object on the way to another version and back.
	Lost []*Difference `json:"lost,omitempty"`
	// Former are values that hooks do not read from annotations of the other project, and that its own conversions read.
	Former []*Difference `json:"former,omitempty"`
}

// Difference is a place where objects differ.
type Difference struct {
	// Kind, From and To restrict the difference to a kind and a direction unless they are empty.
	Kind string `json:"kind,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Path or Paths are fields, such as spec.ports[].name, or ones above them. A leading *. stands for any fields above, and a trailing $
	// excludes the fields below. The path is error if the other project fails to convert the object.
	Path  string   `json:"path,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// Reason explains the difference.
	Reason string `json:"reason"`

	// used are the paths that an object confirmed.
	used map[string]bool
}

// loadDifferences reads the differences of an API.
func (a *API) loadDifferences(t testing.TB) *Differences {
	t.Helper()
	file, all := filepath.Join(a.Dir, differencesFile), &Differences{}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return all
	}
	if err := yaml.UnmarshalStrict(read(t, file), all); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	for _, each := range slices.Concat(all.Converted, all.Lost, all.Former) {
		if each.Path != "" {
			each.Paths = append(each.Paths, each.Path)
		}
	}
	return all
}

// explain reports whether one of the differences covers a place, and marks those that do.
func explain(all []*Difference, trip Trip, path string) bool {
	explained := false
	for _, each := range all {
		if !each.concerns(trip) {
			continue
		}
		for _, known := range each.Paths {
			if covers(known, path) {
				if each.used == nil {
					each.used = make(map[string]bool)
				}
				each.used[known], explained = true, true
			}
		}
	}
	return explained
}

// concerns reports whether the difference is about the kind and the direction of a trip.
func (d *Difference) concerns(trip Trip) bool {
	for restriction, value := range map[string]string{d.Kind: trip.Kind, d.From: trip.From, d.To: trip.To} {
		if restriction != "" && restriction != value {
			return false
		}
	}
	return true
}

// covers reports whether a known path stands for a place.
func covers(known, path string) bool {
	wanted, anywhere := strings.CutPrefix(known, "*.")
	wanted, exact := strings.CutSuffix(wanted, "$")
	matches := isAtOrBelow
	if exact {
		matches = func(path, wanted string) bool { return path == wanted }
	}
	if !anywhere {
		return matches(path, wanted)
	}
	for i := range path {
		if (i == 0 || path[i-1] == '.') && matches(path[i:], wanted) {
			return true
		}
	}
	return false
}

func isAtOrBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// unused are the paths of differences that cover nothing.
func unused(all []*Difference) []string {
	var missing []string
	for _, each := range all {
		for _, path := range each.Paths {
			if !each.used[path] {
				missing = append(missing, fmt.Sprintf("{kind: %s, from: %s, to: %s, path: %s}", each.Kind, each.From, each.To, path))
			}
		}
	}
	return missing
}

// compare returns the places where two objects differ. Absent and null are the same. A list whose length differs is one place.
func compare(a, b any, path string, differ func(path string, a, b any)) {
	objectA, isObjectA := a.(map[string]any)
	objectB, isObjectB := b.(map[string]any)
	listA, isListA := a.([]any)
	listB, isListB := b.([]any)
	switch {
	case isObjectA && isObjectB:
		names := maps.Clone(objectA)
		maps.Copy(names, objectB)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			compare(objectA[name], objectB[name], strings.TrimPrefix(path+"."+name, "."), differ)
		}
	case isListA && isListB && len(listA) == len(listB):
		for i := range listA {
			compare(listA[i], listB[i], path+"[]", differ)
		}
	case !reflect.DeepEqual(a, b):
		differ(path, a, b)
	}
}

// visible reads an object without its type and without the annotation in which assign-gen keeps values.
func (a *API) visible(t testing.TB, text json.RawMessage) map[string]any {
	t.Helper()
	var object map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("reading an object: %v", err)
	}
	delete(object, "apiVersion")
	delete(object, "kind")
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, a.annotation())
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return object
}
