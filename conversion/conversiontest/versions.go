/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// Version is a version of a kind.
type Version struct {
	Name string
	// New makes an empty object.
	New func() metav1.Object
	// Dropped are fields, as Type.Field, that are lost on purpose and never filled.
	Dropped []string
	// Fixed are fields, as Type.Field, that a hook fills even if there is no value, and their keys in bags.
	Fixed []string
	// NeverNull are lists and maps, as Type.Field, that are empty where they would be null.
	NeverNull []string
}

// accepts reports whether the version can read an object, and write it again: types with their own JSON may reject values.
func (v Version) accepts(text string) bool {
	object := v.New()
	if json.Unmarshal([]byte(text), object) != nil {
		return false
	}
	_, err := json.Marshal(object)
	return err == nil
}

// expectSamef fails the test if two objects of the version, as canonical texts, differ in more than lists that are null or empty where that is the same.
func (v Version) expectSamef(t *testing.T, want, got, format string, args ...any) {
	t.Helper()
	if want != got {
		expectSamef(t, v.withoutNull(t, want), v.withoutNull(t, got), format, args...)
	}
}

// withoutNull is an object with lists and maps that are empty where they would be null.
func (v Version) withoutNull(t *testing.T, text string) string {
	t.Helper()
	if v.NeverNull == nil {
		return text
	}
	object := parsed(t, text, v)
	forgetNull(reflect.ValueOf(object), v.NeverNull)
	return canonical(t, object)
}

// Converter fills an object of one version from one of another version.
type Converter func(ctx context.Context, from, to metav1.Object) error

// Kind is a kind in all its versions.
type Kind struct {
	// Annotation is the name of the annotation in which versions keep what they cannot show.
	Annotation string
	// Versions, each of which is converted to the next one.
	Versions []Version
	// Decided are, by version, the fields, as Type.Field or *.Field, and types that markers about the next version decide about. Those of the next
	// version are under its name with an arrow before it.
	Decided map[string][]string
	// Values are, by version, the values of enums: of types, and of fields, as Type.Field, that have others.
	Values map[string]map[string][]string
	// Report is the path of the report of assign-gen.
	Report string
	// DependsOnMetadata reports whether a conversion looks at the metadata of the object, so that an edit there may change other fields.
	DependsOnMetadata bool
	// Converters convert between any two versions. The first one is tested, and the others have to give the same result.
	Converters []Converter
	// Functions are for randfill, in addition to those that this package brings.
	Functions []any

	// inputs is the number of objects that Test tries on each way.
	inputs int
}

// Test converts random objects and expects of every version and every other one:
//   - From there, and by way of a third version, the result equals the original. Where one arrives does not depend on the
//     way. Each leaf holds something at some time.
//   - A field that both of two consecutive versions have in JSON, and that no marker, function or hook decides about, shows the same. The
//     report lists all others.
//   - Objects that were edited where not everything shows, or have holes as those of one manager have for the API server,
//     convert too. The edit stands, and what was not edited is what it was.
//   - Where there is nothing, nothing appears.
//   - Whatever is in the annotation, objects convert, at a bounded cost, and are shown by what is visible in them.
//   - The same object gives the same bytes, each time.
//
// Between two versions objects are JSON, as they are for a webhook. Sources are left alone, and share no memory with what is
// made of them.
//
// It tries up to 1,000 objects on each way, the fewer the larger they are and the more versions there are, and at most 100 with -short.
// The environment variable testrand.InputsVariable sets another number.
func (k Kind) Test(t *testing.T) {
	t.Helper()
	annotation := k.Annotation
	if annotation == "" {
		t.Fatal("Kind.Annotation is empty: it must be the name that +conversion-gen:annotation gives to the hub")
	}
	k.inputs = k.affordable(t)
	source := testrand.SourceFor(t, k.inputs)
	for i := 1; i < len(k.Versions); i++ {
		t.Run(k.Versions[i-1].Name+" "+k.Versions[i].Name+", reported", func(t *testing.T) { k.reported(t, k.Versions[i-1], k.Versions[i]) })
		for _, way := range [][2]Version{{k.Versions[i-1], k.Versions[i]}, {k.Versions[i], k.Versions[i-1]}} {
			t.Run(way[0].Name+" "+way[1].Name+", shown alike", func(t *testing.T) { k.shownAlike(t, annotation, way[0], way[1]) })
		}
	}
	for _, a := range k.Versions {
		for _, b := range k.Versions {
			if a.Name == b.Name {
				continue
			}
			between := a.Name + " " + b.Name
			t.Run(between+" "+a.Name, func(t *testing.T) { k.there(t, source, a, b) })
			t.Run(between+", every leaf", func(t *testing.T) { k.covered(t, a, b) })
			t.Run(between+", edited", func(t *testing.T) { k.edited(t, annotation, a, b) })
			t.Run(between+", of nothing", func(t *testing.T) { k.fromNothing(t, annotation, a, b) })
			t.Run(between+", hostile", func(t *testing.T) { k.hostile(t, annotation, a, b) })
			t.Run(between+", always the same", func(t *testing.T) { k.always(t, a, b) })
			for _, c := range k.Versions {
				if c.Name != a.Name && c.Name != b.Name {
					t.Run(between+" "+c.Name+" "+a.Name, func(t *testing.T) { k.around(t, source, a, b, c) })
				}
			}
		}
	}
}

// Random returns a function that makes random objects of a version as Test does, for tests that know what the fields mean. Lists are not null where that
// means empty.
func (k Kind) Random(t *testing.T) func(version Version) metav1.Object {
	t.Helper()
	random := newFiller(testrand.Source(t), k.Functions)
	return func(version Version) metav1.Object {
		object := random.object(t, version)
		forgetNull(reflect.ValueOf(object), version.NeverNull)
		return object
	}
}

func (k Kind) there(t *testing.T, source rand.Source, a, b Version) {
	t.Helper()
	random := newFiller(source, k.Functions)
	for range k.inputs {
		before := canonical(t, random.object(t, a))
		shown := k.expectConverted(t, before, a, b)
		a.expectSamef(t, before, canonical(t, k.converted(t, shown, b, a)), "by way of %s", shown)
	}
}

// always converts the same objects many times. It compares the bytes that a webhook would send.
func (k Kind) always(t *testing.T, a, b Version) {
	t.Helper()
	random := k.random(t)
	const objects, fewestTimes = 5, 10
	for range objects {
		object, first := k.shown(t, random, a), ""
		for range max(fewestTimes, k.inputs/fewestTimes) {
			text := marshaled(t, k.converted(t, object, a, b))
			first = cmp.Or(first, text)
			expectSamef(t, first, text, "%s is not always the same at %s", object, b.Name)
		}
	}
}

func (k Kind) around(t *testing.T, source rand.Source, a, b, c Version) {
	t.Helper()
	random := newFiller(source, k.Functions)
	for range k.inputs {
		start := canonical(t, random.object(t, a))

		middle := canonical(t, k.converted(t, start, a, b))
		end := canonical(t, k.converted(t, middle, b, c))
		c.expectSamef(t, canonical(t, k.converted(t, start, a, c)), end, "the way by %s, where it is %s, leads elsewhere than the direct one", b.Name, middle)
		a.expectSamef(t, start, canonical(t, k.converted(t, end, c, a)), "by way of %s and %s", middle, end)
	}
}

// object makes an object as a webhook gets it: what JSON cannot tell apart is the same.
func (f *filler) object(t *testing.T, version Version) metav1.Object {
	t.Helper()
	object, ok := f.fillValid(t, version.New()).(metav1.Object)
	if !ok {
		t.Fatalf("%s has another type than its objects", version.Name)
	}
	return object
}

func (k Kind) converted(t *testing.T, text string, from, to Version) metav1.Object {
	t.Helper()
	made := to.New()
	convert(t, k.Converters[0], parsed(t, text, from), made)
	return made
}

func convert(t *testing.T, by Converter, from, to metav1.Object) {
	t.Helper()
	if err := by(t.Context(), from, to); err != nil {
		t.Fatalf("%s: %v", canonical(t, from), err)
	}
}

func parsed(t *testing.T, text string, version Version) metav1.Object {
	t.Helper()
	object := version.New()
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatalf("%s cannot read %s: %v", version.Name, text, err)
	}
	forgetNull(reflect.ValueOf(object), nil)
	return object
}
