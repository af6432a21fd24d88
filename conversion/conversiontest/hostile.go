/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/conversion"
)

// monstrous holds annotations that no client should write, and that would be expensive to evaluate. The limit that is
// theirs is no more than an object costs.
var monstrous = []string{
	strings.Repeat("x", 1<<20),
	strings.Repeat("[", 1<<20),
	`{"f":1,"e":{"v99/a":{"d":"` + strings.Repeat("x", 1<<20) + `"}}}`,
	strings.Repeat(`{"c":`, 1<<12),
	`{"f":1,"c":` + strings.Repeat(`{"spec":{"c":`, 2000) + `{}` + strings.Repeat(`}}`, 2000) + `}`,
	`{"f":1,"c":{` + strings.Repeat(`"":{},`, 5000) + `"spec":{}}}`,
	`{"f":1,"c":{"spec":{"e":{` + strings.Repeat(`"v99/a":{"d":1},`, 3000) + `"v99/b":{"d":2}}}}}`,
	`{"f":1,"c":{"spec":{"e":{"v99/a":{"d":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}}}}}`,
}

// hostile converts objects whose annotation was damaged, made up, or taken from another object. Each converts; what comes of it
// keeps within the limits and is stable from then on.
func (k Kind) hostile(t *testing.T, annotation string, a, b Version) {
	t.Helper()
	random := k.random(t)
	for range shareOf(k.inputs) {
		object := read(t, k.shown(t, random, a))
		random.attack(t, object, read(t, k.shown(t, random, a)), annotation)
		text := written(t, canonical(t, object), a)
		shown := k.expectConverted(t, text, a, b)
		expectWithinLimit(t, text, shown, annotation)
		again := canonical(t, k.converted(t, shown, b, a))
		expectWithinLimit(t, shown, again, annotation)
		b.expectSamef(t, shown, canonical(t, k.converted(t, again, a, b)), "%s was written at %s, and changes without having been edited", text, a.Name)
	}

	for _, text := range monstrous {
		object := read(t, k.shown(t, random, a))
		stash(t, object, annotation, text)
		source, made := parsed(t, canonical(t, object), a), b.New()
		const runs, most = 1, 100_000
		if got := testing.AllocsPerRun(runs, func() { convert(t, k.Converters[0], source, made) }); got > most {
			t.Errorf("to convert an object with %d bytes like %.60s takes %v allocations", len(text), text, got)
		}
		expectWithinLimit(t, text, canonical(t, made), annotation)
	}

	// Neither of these leaves room for what b has to stash.
	const oneIn = 200 // they are very large
	for range max(1, k.inputs/oneIn) {
		for what, fill := range map[string]func(whole){
			"the largest annotation": func(object whole) { stash(t, object, annotation, largest) },
			"full annotations": func(object whole) {
				unstructured.RemoveNestedField(object, "metadata", "annotations")
				stash(t, object, "filler", strings.Repeat("x", validation.TotalAnnotationSizeLimitB-len("filler")))
			},
		} {
			object := read(t, k.shown(t, random, a))
			fill(object)
			expectWithinLimit(t, what, k.expectConverted(t, canonical(t, object), a, b), annotation)
		}
	}
}

// largest is an annotation at the limit.
var largest = func() string {
	const beginning, end = `{"e":{"v99/a":{"d":"`, `"}},"f":1}`
	return beginning + strings.Repeat("x", conversion.HardLimit-len(beginning)-len(end)) + end
}()

func expectWithinLimit(t *testing.T, source, made, annotation string) {
	t.Helper()
	object := read(t, made)
	if text, _ := stashed(object, annotation); len(text) > conversion.HardLimit {
		t.Fatalf("an annotation of %d bytes, made of %s", len(text), source)
	}
	annotations, _, err := unstructured.NestedStringMap(object, "metadata", "annotations")
	if err == nil {
		err = validation.ValidateAnnotationsSize(annotations)
	}
	if err != nil {
		t.Fatalf("%v, made of %s", err, source)
	}
}

// anyByte are bytes of all sorts, few of which stand for themselves in JSON.
const anyByte = "\x00\n\x7f\x80\xc3\xff\"\\{}[],: 09-eE.tfnu/~"

func (f *filler) attack(t *testing.T, object, other whole, annotation string) {
	t.Helper()
	own, _ := stashed(object, annotation)
	theirs, ok := stashed(other, annotation)
	switch choice := f.random.Intn(5); {
	case choice == 0 && ok:
		own = theirs
	case choice == 1 && own != "":
		own = own[:f.random.Intn(len(own))]
	case choice == 2 && own != "":
		for range 1 + f.random.Intn(4) {
			at := f.random.Intn(len(own))
			own = own[:at] + anyByte[f.random.Intn(len(anyByte)):][:1] + own[at+1:]
		}
	case choice == 3 && own != "":
		content := read(t, own)
		for range 1 + f.random.Intn(4) {
			f.damage(content)
		}
		own = canonical(t, content)
	default:
		own = canonical(t, f.anything(4))
	}
	stash(t, object, annotation, own)
}

// damage puts something else in the place of a part of an object.
func (f *filler) damage(object whole) {
	for {
		names := slices.Sorted(maps.Keys(object))
		if len(names) == 0 {
			return
		}
		name := names[f.random.Intn(len(names))]
		if inside, ok := object[name].(whole); ok && f.random.Intn(6) != 0 {
			object = inside
			continue
		}
		if name != "f" || f.random.Intn(6) == 0 {
			object[name] = f.anything(3)
		}
		return
	}
}

// anything is random JSON, often with the names that an annotation has.
func (f *filler) anything(depth int) any {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	const most = 4
	switch f.random.Intn(kinds) {
	case 0:
		return nil
	case 1:
		return f.random.Intn(2) == 0
	case 2:
		return []any{0, 1, -1, 1 << 40, 1e300, 0.5}[f.random.Intn(6)]
	case 3:
		return json.Number([]string{"1e999", "-0", "99999999999999999999"}[f.random.Intn(3)])
	case 4, 5:
		return []string{"", "a", "\x00", "\u2028", "0:", "~", "1s", "2026-01-01T00:00:00Z", "%zz"}[f.random.Intn(9)]
	case 6:
		list := make([]any, f.random.Intn(most))
		for i := range list {
			list[i] = f.anything(depth - 1)
		}
		return list
	default:
		object := make(whole)
		for range f.random.Intn(most) {
			names := []string{"f", "c", "e", "n", "z", "t", "b", "d", "spec", "status", "metadata", "", "0:", "/format", "v1/x"}
			object[names[f.random.Intn(len(names))]] = f.anything(depth - 1)
		}
		return object
	}
}
