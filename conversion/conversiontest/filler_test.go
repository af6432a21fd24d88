/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	goruntime "runtime"
	"strings"
	"testing"

	"sigs.k8s.io/randfill"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// deep is a type whose only leaf is within as many structs, each in a list.
func deep(structs int) reflect.Type {
	t := reflect.TypeFor[string]()
	for range structs {
		t = reflect.StructOf([]reflect.StructField{{Name: "Next", Type: reflect.SliceOf(reflect.PointerTo(t)), Tag: `json:"next"`}})
	}
	return t
}

// Every leaf of a kind has to hold something at some time, however deep it is.
func TestFiller_DeepTypes_AreFilledToTheLeaves(t *testing.T) {
	const deeperThanAnyKind = 15
	object := reflect.New(deep(deeperThanAnyKind)).Interface()
	random, seen := newFiller(testrand.Source(t), nil).withEverything(), newCoverage(object, nil)
	random.filler.NumElements(1, 1)
	const objects = 10 // a random text may be empty
	for range objects {
		random.fillValid(t, object)
		seen.trip(object, object)
	}
	for _, path := range seen.never() {
		t.Errorf("%s never holds anything", path)
	}
}

// tree holds itself in all ways that there are.
type tree struct {
	Leaf   string             `json:"leaf"`
	Left   *tree              `json:"left"`
	List   [][]tree           `json:"list"`
	Map    map[string]**tree  `json:"map"`
	Forest forest             `json:"forest"`
	Own    branch             `json:"own"`
	More   map[string]*branch `json:"more"`
}

type forest map[string]forest

type branch struct {
	Trees []tree `json:"trees"`
}

func depthOf(value reflect.Value) int {
	deepest := 0
	switch value.Kind() { //nolint:exhaustive // the others hold no other value
	case reflect.Pointer:
		if !value.IsNil() {
			return depthOf(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			deepest = max(deepest, depthOf(value.Index(i)))
		}
	case reflect.Map:
		for _, each := range value.Seq2() {
			deepest = max(deepest, depthOf(each))
		}
	case reflect.Struct:
		for _, each := range value.Fields() {
			deepest = max(deepest, depthOf(each))
		}
		if value.Type() == reflect.TypeFor[tree]() {
			deepest++
		}
	}
	return deepest
}

func TestFiller_TypesThatHoldThemselves_End(t *testing.T) {
	for name, test := range map[string]struct {
		random *filler
		want   int
	}{
		"random":          {newFiller(testrand.Source(t), nil), 3},
		"with everything": {newFiller(testrand.Source(t), nil).withEverything(), 2},
		"with a function": {newFiller(testrand.Source(t), []any{func(object *tree, c randfill.Continue) { c.FillNoCustom(object) }}), 3},
	} {
		deepest := 0
		const objects = 50
		for range objects {
			var object tree
			test.random.fillValid(t, &object)
			deepest = max(deepest, depthOf(reflect.ValueOf(object)))
		}
		if deepest != test.want {
			t.Errorf("%s: trees within trees are %d deep, want %d", name, deepest, test.want)
		}
	}
}

// choice is either of two things, like a parameter of a pipeline, and its zero value is neither.
type choice struct {
	Type string
	Text string
	List []string
}

var errNeither = errors.New("the type is neither text nor list")

func (c choice) MarshalJSON() ([]byte, error) {
	switch c.Type {
	case "text":
		return json.Marshal(c.Text)
	case "list":
		return json.Marshal(c.List)
	default:
		return nil, errNeither
	}
}

func (c *choice) UnmarshalJSON(text []byte) error {
	if strings.HasPrefix(string(text), "[") {
		c.Type = "list"
		return json.Unmarshal(text, &c.List)
	}
	c.Type = "text"
	return json.Unmarshal(text, &c.Text)
}

type chosen struct {
	One   named            `json:"one"`
	Maybe *choice          `json:"maybe"`
	Two   [2]choice        `json:"two"`
	Each  []named          `json:"each"`
	By    map[string]named `json:"by"`
}

type named struct {
	Name  string `json:"name"`
	Value choice `json:"value"`
}

func TestFiller_TypeThatRejectsValues_IsFilledInAllPlaces(t *testing.T) {
	lists := []any{func(c *choice, _ randfill.Continue) { *c = choice{Type: "list", List: []string{"a", "b"}} }}
	for name, functions := range map[string][]any{"without a function": nil, "with a function": lists} {
		random := newFiller(testrand.Source(t), functions)
		zero, places := 0, make(map[string]bool)
		for range testrand.Inputs(t) {
			var object chosen
			random.fillValid(t, &object)
			if object.One.Name == "" {
				zero++
			}
			for place, each := range map[string]int{"pointer": btoi(object.Maybe != nil), "list": len(object.Each), "map": len(object.By)} {
				places[place] = places[place] || each > 0
			}
			for _, value := range append([]choice{object.One.Value}, object.Two[:]...) {
				if functions != nil && len(value.List) != 2 {
					t.Fatalf("%s: %+v is not what the function made", name, value)
				}
			}
		}
		if zero == 0 || len(places) != 3 || !places["pointer"] || !places["list"] || !places["map"] {
			t.Errorf("%s: fields other than the type are never zero, or it is never in one of its places: %v", name, places)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sealed can never be written.
type sealed struct{ A int }

func (sealed) MarshalJSON() ([]byte, error) { return nil, errNeither }

func TestFiller_TypeThatIsNeverValid_FailsWithItsName(t *testing.T) {
	type holder struct {
		Inside []sealed `json:"inside"`
	}
	failed := failureOf(t, func(t testing.TB) {
		for range testrand.Inputs(t) {
			newFiller(testrand.Source(t), nil).withEverything().fillValid(t, &holder{})
		}
	})
	for _, want := range []string{"none of 100 random objects of *conversiontest.holder is valid JSON: ", "add a func(*conversiontest.sealed, randfill.Continue) to conversionFunctions"} {
		if !strings.Contains(failed, want) {
			t.Errorf("failed with %q, want %q in it", failed, want)
		}
	}
}

// failing is a test that keeps what it failed with.
type failing struct {
	testing.TB

	message string
}

func (*failing) Helper() {}

func (f *failing) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	goruntime.Goexit()
}

// failureOf runs a function that is to fail, and returns the message.
func failureOf(t *testing.T, run func(testing.TB)) string {
	t.Helper()
	f, done := &failing{TB: t}, make(chan struct{})
	go func() {
		defer close(done)
		run(f)
	}()
	<-done
	return f.message
}

// picky writes any text, and reads only one.
type picky struct{ Text string }

func (p picky) MarshalJSON() ([]byte, error) { return json.Marshal(p.Text) }

func (p *picky) UnmarshalJSON(text []byte) error {
	if string(text) != `"right"` {
		return errNeither
	}
	p.Text = "right"
	return nil
}

// A type that cannot read what it writes is named, also if it is deep inside: functions are for it and not for the object. The reason comes before
// the object.
func TestFiller_TypeThatRejectsItsOwnJSON_FailsWithItsName(t *testing.T) {
	type holder struct {
		Inside map[string][]*picky `json:"inside"`
	}
	failed := failureOf(t, func(t testing.TB) { newFiller(testrand.Source(t), nil).withEverything().fillValid(t, &holder{}) })
	for _, want := range []string{"is valid JSON: " + errNeither.Error() + ": reading ", "add a func(*conversiontest.picky, randfill.Continue) to conversionFunctions"} {
		if !strings.Contains(failed, want) {
			t.Errorf("the test failed with %q, want %q", failed, want)
		}
	}
}
