/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// whole is an object as JSON.
type whole = map[string]any

// change changes something about an object below one of its fields, as clients and the API server do: a part is taken out,
// is null, or is what it is in another object of the same version. The annotation is left alone.
func (f *filler) change(object, other whole, field, annotation string) {
	at, ok := object[field]
	if !ok || f.random.Intn(8) == 0 {
		f.replace(object, other, field)
		return
	}
	for {
		theirs := other[field]
		inside, isMap := at.(whole)
		if list, isList := at.([]any); isList && len(list) > 0 {
			object[field] = f.changeList(list, theirs)
			return
		}
		fields := slices.DeleteFunc(slices.Sorted(maps.Keys(inside)), func(name string) bool { return name == annotation })
		if !isMap || len(fields) == 0 || f.random.Intn(4) == 0 {
			f.replace(object, other, field)
			return
		}
		object, field = inside, fields[f.random.Intn(len(fields))]
		other, _ = theirs.(whole)
		at = object[field]
	}
}

// replace takes a field out, makes it null, or what it is elsewhere.
func (f *filler) replace(object, other whole, field string) {
	theirs, ok := other[field]
	_, isObject := object[field].(whole)
	_, isList := object[field].([]any)
	switch choice := f.random.Intn(3); {
	case field == "metadata" || field == "annotations":
		// Without it the annotation would be deleted or replaced.
	case choice == 0 && ok:
		object[field] = theirs
	case choice == 1 && (isObject || isList):
		object[field] = nil // other types might be unable to read it
	default:
		delete(object, field)
	}
}

// changeList deletes, swaps or takes over an element.
func (f *filler) changeList(list []any, theirs any) []any {
	at := f.random.Intn(len(list))
	others, _ := theirs.([]any)
	switch f.random.Intn(3) {
	case 0:
		return slices.Delete(list, at, at+1)
	case 1:
		list[0], list[at] = list[at], list[0]
	default:
		if len(others) > 0 {
			list[at] = others[f.random.Intn(len(others))]
		}
	}
	return list
}

// leafless is an object in which everything is absent or empty that is neither an object nor a list, and the annotation too.
func leafless(value any) any {
	switch value := value.(type) {
	case whole:
		structure := make(whole, len(value))
		for name, each := range value {
			if inner := leafless(each); inner != nil && name != "annotations" {
				structure[name] = inner
			}
		}
		return structure
	case []any:
		structure := []any{}
		for _, each := range value {
			if inner := leafless(each); inner != nil {
				structure = append(structure, inner)
			}
		}
		return structure
	default:
		return nil
	}
}

// visible is an object without the annotation.
func visible(t *testing.T, object, annotation string) string {
	t.Helper()
	all := read(t, object)
	removeEntry(all, "annotations", annotation)
	return canonical(t, all)
}

// removeEntry removes an entry of the labels or annotations, and these if there is no other one.
func removeEntry(object whole, field, name string) {
	unstructured.RemoveNestedField(object, "metadata", field, name)
	if others, ok, _ := unstructured.NestedMap(object, "metadata", field); ok && len(others) == 0 {
		unstructured.RemoveNestedField(object, "metadata", field)
	}
}

func stashed(object whole, annotation string) (text string, ok bool) {
	text, ok, _ = unstructured.NestedString(object, "metadata", "annotations", annotation)
	return text, ok
}

func stash(t *testing.T, object whole, annotation, text string) {
	t.Helper()
	if err := unstructured.SetNestedField(object, text, "metadata", "annotations", annotation); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, text string) whole {
	t.Helper()
	var object whole
	if err := decode([]byte(text), &object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// decode reads JSON with its numbers as they are written: as a float64, a large one would be another one.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into) //nolint:wrapcheck // callers describe it
}
