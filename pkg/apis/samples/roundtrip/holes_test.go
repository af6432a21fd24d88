/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// The API server converts objects that no client wrote: to compute field ownership, it takes only the fields of one manager, or leaves them out. So
// any part may be missing, even if an annotation refers to it.
func TestConvert_ObjectsWithMissingParts_Succeeds(t *testing.T) {
	random := randomly(t)
	r := rand.New(testrand.Source(t))
	for _, version := range all {
		t.Run(version, func(t *testing.T) {
			for range testrand.Inputs(t) {
				origin := all[r.Intn(len(all))]
				whole := encode(t, random(origin))
				if origin != version {
					whole = converted(t, whole, origin, version)
				}
				var object map[string]any
				decode(t, whole, &object)
				for range 1 + r.Intn(4) {
					makeHole(object, r)
				}
				holed := encode(t, object)
				known := said(t, holed)
				for _, to := range all {
					if to != version {
						expectOnlyFrom(t, holed, known, converted(t, holed, version, to))
					}
				}
			}
		})
	}
}

// makeHole takes something out of an object, at whatever depth, or makes it null.
func makeHole(object map[string]any, r *rand.Rand) {
	for inside := ""; ; {
		names := slices.Sorted(maps.Keys(object))
		if len(names) == 0 {
			return
		}
		name := names[r.Intn(len(names))]
		if inner, ok := object[name].(map[string]any); ok && len(inner) > 0 && r.Intn(4) != 0 {
			object, inside = inner, name
			continue
		}
		// The API server admits neither null metadata nor null elements of maps.
		if r.Intn(3) == 0 && name != "metadata" && inside != "annotations" && inside != "labels" {
			object[name] = nil
		} else {
			delete(object, name)
		}
		return
	}
}

// said is all that an object says, and what other versions say instead.
func said(t *testing.T, object string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	walk(unfold(t, object), "", func(name string, value any) {
		known[fmt.Sprint(value)] = true
		for _, each := range meaning(name, value) {
			known[each] = true
		}
	})
	return known
}

// expectOnlyFrom fails the test for everything in an object that is not known from the one that it was made of.
func expectOnlyFrom(t *testing.T, source string, known map[string]bool, made string) {
	t.Helper()
	got := unfold(t, made)
	if _, ok := got["metadata"].(map[string]any); !ok {
		t.Fatalf("%s has no metadata, made of %s", made, source)
	}
	walk(got, "", func(name string, value any) {
		switch {
		case known[fmt.Sprint(value)]:
		case slices.Contains(alwaysWritten, name) && value == "":
		case slices.Contains(ofTheAnnotation, name):
		default:
			t.Fatalf("%s: %v comes from nowhere\nmade of %s\ngot     %s", name, value, source, made)
		}
	})
}

var (
	// alwaysWritten are the fields that have no omitempty.
	alwaysWritten = []string{"serviceName", "apiVersion", "kind", "name", "alias", "type", "status"}
	// ofTheAnnotation lists the keys of an annotation that describe it: its format, what its entries were derived from, and fields
	// that were absent or zero.
	ofTheAnnotation = []string{"f", "b", "n", "z"}
)

// meaning returns the value of a field at other versions.
func meaning(name string, value any) []string {
	switch name {
	case "serviceName":
		if value != "" {
			return []string{"v1", "Service"}
		}
	case "z":
		return []string{""}
	case "port", "v1beta1/port":
		return []string{"port"}
	}
	switch value {
	case "Internal":
		return []string{"ClusterLocal"}
	case "External":
		return []string{"Public"}
	case "ClusterLocal":
		return []string{"Internal"}
	case "Public":
		return []string{"External"}
	}
	return nil
}

// walk visits everything that is neither an object nor a list, with the name of the field that it is in. The data of an entry
// in the annotation is in the field that the entry is for.
func walk(value any, name string, visit func(name string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for key, each := range value {
			if key == "d" {
				key = name
			}
			walk(each, key, visit)
		}
	case []any:
		for _, each := range value {
			walk(each, name, visit)
		}
	default:
		visit(name, value)
	}
}
