/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/mallard-dev/mallard/conversion"
	"github.com/mallard-dev/mallard/conversion/conversiontest"
	"github.com/mallard-dev/mallard/conversion/knative"
)

const annotation = "conversion.samples.knative.dev/properties"

// versions are those of the kind, the oldest first, and all are their names.
var (
	versions = conversionOfAddressableService().Versions
	all      = func() (names []string) {
		for _, version := range versions {
			names = append(names, version.Name)
		}
		return names
	}()
)

func versionOf(t *testing.T, name string) conversiontest.Version {
	t.Helper()
	at := slices.Index(all, name)
	if at < 0 {
		t.Fatalf("there is no version %q", name)
	}
	return versions[at]
}

func newObject(t *testing.T, version string) metav1.Object {
	t.Helper()
	return versionOf(t, version).New()
}

// randomly returns a function that makes random objects of a version.
func randomly(t *testing.T) func(version string) metav1.Object {
	t.Helper()
	random := conversionOfAddressableService().Random(t)
	return func(version string) metav1.Object { return random(versionOf(t, version)) }
}

// converted is an object at another version, both as JSON, as a webhook has them.
func converted(t *testing.T, object, from, to string) string {
	t.Helper()
	source, target := newObject(t, from), newObject(t, to)
	decode(t, object, source)
	if err := knative.ConvertTo(t.Context(), source, target); err != nil {
		t.Fatalf("%s of %s to %s: %v", object, from, to, err)
	}
	return encode(t, target)
}

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := conversion.Canonical(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// decode reads an object as API servers do: a whole number is one, however large.
func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// expectSamef compares two texts as JSON.
func expectSamef(t *testing.T, want, got, format string, args ...any) {
	t.Helper()
	if want == got {
		return
	}
	var wanted, gotten any
	decode(t, want, &wanted)
	decode(t, got, &gotten)
	if diff := cmp.Diff(wanted, gotten); diff != "" {
		t.Errorf(format, args...)
		t.Fatalf("(-want +got): %s\ngot %s", diff, got)
	}
}

// edited shows an object of v1 at an older version, has it edited there, and returns what it is at v1 then.
func edited[T any, P interface {
	*T
	metav1.Object
}](t *testing.T, object, version string, edit func(P)) string {
	t.Helper()
	shown := P(new(T))
	decode(t, converted(t, object, "v1", version), shown)
	edit(shown)
	return converted(t, encode(t, shown), version, "v1")
}

// visible is an object without the annotation.
func visible(t *testing.T, object string) string {
	t.Helper()
	var whole map[string]any
	decode(t, object, &whole)
	if metadata, ok := whole["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, annotation)
			if len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		}
	}
	return encode(t, whole)
}
