/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edited shows random objects of any version at a, where they are changed all over, and converts them to b. At a, the edits are kept, and
// at b all fields that were not edited are unchanged. The API server makes similar changes: it converts only the fields of one manager, or
// all others.
func (k Kind) edited(t *testing.T, annotation string, a, b Version) {
	t.Helper()
	random := k.random(t)
	for range shareOf(k.inputs) {
		before := k.shown(t, random, a)
		object, other := read(t, before), read(t, canonical(t, random.object(t, a)))
		fields := slices.Sorted(maps.Keys(object))
		field := fields[random.random.Intn(len(fields))]
		for range 1 + random.random.Intn(3) {
			random.change(object, other, field, annotation)
		}
		keepIdentity(object, read(t, before))
		isWhole := false
		switch random.random.Intn(8) {
		case 0:
			// If it gets lost, the hidden properties go with it, and nothing else.
			stash(t, object, annotation, "")
		case 1:
			// It may be all that there is.
			object = whole{"metadata": object["metadata"]}
		default:
			isWhole = true
		}
		edited := canonical(t, object)
		if !a.accepts(edited) {
			continue
		}
		shown := k.settled(t, edited, annotation, a, b)
		if !isWhole {
			continue
		}
		k.carried(t, object, annotation, a, b)
		if field == "metadata" && k.DependsOnMetadata {
			continue
		}
		was := b.withoutNull(t, canonical(t, k.converted(t, before, a, b)))
		expectUntouchedf(t, read(t, was), read(t, b.withoutNull(t, shown)), field,
			"%s was edited at %s, which made of %s %s: at %s", field, a.Name, before, edited, b.Name)
	}
}

// keepIdentity gives an object the name and the namespace of another one: the API server rejects an update that changes either.
func keepIdentity(object, before whole) {
	metadata, ok := object["metadata"].(whole)
	if !ok {
		return
	}
	for _, field := range []string{"name", "namespace"} {
		delete(metadata, field)
		if value, ok, _ := unstructured.NestedString(before, "metadata", field); ok {
			metadata[field] = value
		}
	}
}

// carried expects that entries that a later release stashed, for a version that is not known yet, are kept until that version reads them.
func (k Kind) carried(t *testing.T, object whole, annotation string, a, b Version) {
	t.Helper()
	const unknown = `{"e":{"v99/a":{"d":"x"}},"f":1}`
	stash(t, object, annotation, unknown)
	shown := canonical(t, k.converted(t, written(t, canonical(t, object), a), a, b))
	again := read(t, canonical(t, k.converted(t, shown, b, a)))
	if text, _ := stashed(again, annotation); !strings.Contains(text, `"v99/a":{"d":"x"}`) {
		t.Fatalf("%s is lost, the annotation is %q, by way of %s", unknown, text, shown)
	}
}

// shown is a random object of any version at a.
func (k Kind) shown(t *testing.T, random *filler, a Version) string {
	t.Helper()
	origin := k.Versions[random.random.Intn(len(k.Versions))]
	object := canonical(t, random.object(t, origin))
	if origin.Name == a.Name {
		return object
	}
	return canonical(t, k.converted(t, object, origin, a))
}

// settled converts an object of a to b, returns it, and checks the invariants of any object: a client that wrote it at a sees its own values, further
// conversions change nothing, and a conversion by a third version has the same result.
func (k Kind) settled(t *testing.T, object, annotation string, a, b Version) string {
	t.Helper()
	shown := k.expectConverted(t, object, a, b)
	if again := written(t, object, a); again != object {
		object, shown = again, k.expectConverted(t, again, a, b)
	}
	again := canonical(t, k.converted(t, shown, b, a))
	a.expectSamef(t, visible(t, object, annotation), visible(t, again, annotation),
		"%s is at %s %s, and back at %s something else", object, b.Name, shown, a.Name)
	b.expectSamef(t, shown, canonical(t, k.converted(t, again, a, b)), "%s was written at %s, and changes without having been edited", object, a.Name)
	for _, c := range k.Versions {
		if c.Name != a.Name && c.Name != b.Name {
			// The way through b drops entries that are outdated for c; no client sees them.
			straight, around := canonical(t, k.converted(t, object, a, c)), canonical(t, k.converted(t, shown, b, c))
			c.expectSamef(t, visible(t, straight, annotation), visible(t, around, annotation),
				"%s by way of %s, where it is %s, is at %s another one", object, b.Name, shown, c.Name)
		}
	}
	return shown
}

// written is an object as its version writes it: what is read into the same struct is the same object.
func written(t *testing.T, object string, version Version) string {
	t.Helper()
	for {
		again := canonical(t, parsed(t, object, version))
		if again == object {
			return object
		}
		object = again
	}
}

// expectConverted converts an object from a to b by all converters, and expects them to give the same, to leave the source alone and
// to share nothing with it.
func (k Kind) expectConverted(t *testing.T, object string, a, b Version) string {
	t.Helper()
	source, same, made := parsed(t, object, a), parsed(t, object, a), b.New()
	convert(t, k.Converters[0], source, made)
	shown := canonical(t, made)
	for i, converter := range k.Converters[1:] {
		other := b.New()
		convert(t, converter, source, other)
		expectEqualf(t, made, other, "converters 0 and %d differ", i+1)
	}
	expectEqualf(t, same, source, changesSource)
	var some struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(shown), &some); err != nil || !bytes.HasPrefix(some.Metadata, []byte("{")) {
		t.Fatalf("%s of %s has no metadata at %s: %s", object, a.Name, b.Name, shown)
	}
	overwrite(reflect.ValueOf(made))
	expectEqualf(t, same, source, sharesMemory, made, source)
	return shown
}

// expectUntouchedf compares all fields of an object except for the one that was edited, and for its metadata.
func expectUntouchedf(t *testing.T, was, is whole, edited, format string, args ...any) {
	t.Helper()
	for _, each := range []whole{was, is} {
		delete(each, edited)
		delete(each, "metadata")
	}
	expectSamef(t, canonical(t, was), canonical(t, is), format, args...)
}
