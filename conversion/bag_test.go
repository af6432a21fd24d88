/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

const (
	key   = "v1/probe"
	other = "v9/unheardOf"
)

// bagOf reads a bag from JSON.
func bagOf(t testing.TB, text string) conversion.PropertyBag {
	t.Helper()
	var bag conversion.PropertyBag
	if err := json.Unmarshal([]byte(text), &bag); err != nil {
		t.Fatal(err)
	}
	return bag
}

func put(t testing.TB, value any) conversion.PropertyBag {
	t.Helper()
	var bag conversion.PropertyBag
	if err := bag.Put(key, value); err != nil {
		t.Fatal(err)
	}
	return bag
}

func TestBag_Put_IsTakenOnce(t *testing.T) {
	want := &probe{Path: "/a<b>&", Period: &metav1.Duration{Duration: 1500}}
	bag := put(t, want)
	var got *probe
	if !bag.Take(key, &got) || !cmp.Equal(got, want) {
		t.Errorf("took %v, want %v", got, want)
	}
	if bag.Take(key, &got) || bag.OrNil() != nil {
		t.Errorf("%v is still in the bag", bag)
	}
}

func TestBag_NilValue_StashesNothing(t *testing.T) {
	var nilMap map[string]string
	for name, value := range map[string]any{
		"nil": nil, "nil pointer": (*probe)(nil), "nil map": nilMap, "nil list": []string(nil), "null": json.RawMessage("null"),
		"zero time": metav1.Time{},
	} {
		bag := put(t, "before")
		if err := bag.Put(key, value); err != nil || bag.OrNil() != nil {
			t.Errorf("%s: the bag is %v, error %v", name, bag, err)
		}
	}
	for name, value := range map[string]any{"zero": 0, "false": false, "empty": "", "empty list": []string{}, "empty map": map[string]string{}} {
		if bag := put(t, value); len(bag) != 1 {
			t.Errorf("%s was not stashed", name)
		}
	}
}

func TestBag_ValueThatCannotBeMarshaled_ReturnsErrorWithTheKey(t *testing.T) {
	bag := put(t, "before")
	err := bag.Put(key, math.Inf(1))
	if want := "stashing v1/probe: marshaling float64: json: unsupported value: +Inf"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	var before string
	if !bag.Take(key, &before) {
		t.Error("the bag was changed")
	}
}

func TestBag_TypeMismatch_IsDroppedAndCounted(t *testing.T) {
	bag := put(t, map[string]any{"path": "/", "period": 5})
	got := &probe{Path: "untouched"}
	expectCounted(t, "conversion.bag.dropped", "entry", 1, func() {
		if bag.Take(key, &got) {
			t.Errorf("took %v", got)
		}
	})
	if got.Path != "untouched" || len(bag) != 0 {
		t.Errorf("out is %v, the bag %v", got, bag)
	}
}

func TestBag_Scalars_FitOnlyIntoTypesThatHoldThem(t *testing.T) {
	var narrow *int32
	var wide *int64
	var text *string
	var flag *bool
	for _, c := range []struct {
		value, out any
		want       bool
	}{
		{math.MaxInt32, &narrow, true},
		{math.MaxInt32 + 1, &narrow, false},
		{math.MinInt32, &narrow, true},
		{1.5, &narrow, false},
		{"1", &narrow, false},
		{math.MaxInt64, &wide, true},
		{uint64(math.MaxUint64), &wide, false},
		{1e3, &wide, true},
		{1e-3, &wide, false},
		{"", &text, true},
		{"é\"", &text, true},
		{1, &text, false},
		{true, &flag, true},
		{false, &flag, true},
		{"true", &flag, false},
		{0, &flag, false},
	} {
		bag := put(t, c.value)
		if found := bag.Take(key, c.out); found != c.want {
			t.Errorf("%v goes into %T: %v", c.value, c.out, found)
		}
		if got, want := jsonOf(t, c.out), jsonOf(t, c.value); c.want && got != want {
			t.Errorf("%v becomes %s in %T", want, got, c.out)
		}
	}
}

// An earlier release may have stashed a property for which a later one has a function or a hook.
func TestAdopt_StashedProperty_HoldsGoodIfItsBasisIsAbsent(t *testing.T) {
	text := "basis"
	for name, c := range map[string]struct {
		basis any
		want  conversion.Match
	}{
		"nothing":       {nil, conversion.Exact},
		"a nil pointer": {(*string)(nil), conversion.Exact},
		"a nil list":    {[]string(nil), conversion.Exact},
		"a value":       {&text, conversion.None},
		"a zero value":  {new(string), conversion.None},
		"an empty list": {[]string{}, conversion.None},
	} {
		var got string
		bag := put(t, "value")
		bag.Adopt(key, c.basis)
		if match := bag.TakeDerived(key, c.basis, &got); match != c.want || (got == "value") != (c.want == conversion.Exact) {
			t.Errorf("%s: %v with %q, want %v", name, match, got, c.want)
		}
	}
	var bag conversion.PropertyBag
	bag.Adopt(key, nil)
	if err := bag.PutDerived(key, "value", "other"); err != nil {
		t.Fatal(err)
	}
	bag.Adopt(key, nil)
	var got string
	if match := bag.TakeDerived(key, "other", &got); match != conversion.Exact {
		t.Errorf("a property of PutDerived is %v", match)
	}
}

func TestBag_DerivedProperty_RemembersItsBasis(t *testing.T) {
	for name, c := range map[string]struct {
		basis any
		want  conversion.Match
	}{
		"the same":                     {map[string]any{"a": 1, "b": "<"}, conversion.Exact},
		"the same, declared otherwise": {struct{ B, A any }{"<", 1}, conversion.Stale},
		"the same, in another order": {struct {
			B string `json:"b"`
			A int    `json:"a"`
		}{"<", 1}, conversion.Exact},
		"another":             {map[string]any{"a": 2, "b": "<"}, conversion.Stale},
		"none":                {nil, conversion.Stale},
		"cannot be marshaled": {math.NaN(), conversion.Stale},
	} {
		var bag conversion.PropertyBag
		if err := bag.PutDerived(key, "value", map[string]any{"b": "<", "a": 1}); err != nil {
			t.Fatal(err)
		}
		var got string
		if match := bag.TakeDerived(key, c.basis, &got); match != c.want || got != "value" || len(bag) != 0 {
			t.Errorf("%s: match %v and %q, want %v; left is %v", name, match, got, c.want, bag)
		}
		if match := bag.TakeDerived(key, c.basis, &got); match != conversion.None {
			t.Errorf("%s: match %v the second time", name, match)
		}
	}
}

func TestBag_BasisLostOrNotMarshalable_NeverMatches(t *testing.T) {
	var bag conversion.PropertyBag
	if err := bag.PutDerived(key, 1, math.NaN()); err != nil {
		t.Fatal(err)
	}
	got := 0
	if match := bag.TakeDerived(key, math.NaN(), &got); match != conversion.Stale {
		t.Errorf("match %v", match)
	}
	bag = bagOf(t, `{"v1/probe":{"d":1}}`)
	if match := bag.TakeDerived(key, "basis", &got); match != conversion.Stale {
		t.Errorf("match %v", match)
	}
}

func TestBag_InStashedStruct_Survives(t *testing.T) {
	var inner conversion.PropertyBag
	if err := inner.PutDerived(other, map[string]any{"z": []int{1}, "a": "<"}, "basis"); err != nil {
		t.Fatal(err)
	}
	bag := put(t, &probeStorage{PropertyBag: inner})
	const want = `{"v1/probe":{"d":{"propertyBag":{"v9/unheardOf":{"b":"kuWQye76so4","d":{"a":"<","z":[1]}}}}}}`
	text, err := conversion.Canonical(bag)
	if err != nil || string(text) != want {
		t.Errorf("the bag is %s, want %s, error %v", text, want, err)
	}
	var got *probeStorage
	if !bag.Take(key, &got) || jsonOf(t, got.PropertyBag) != jsonOf(t, inner) {
		t.Errorf("took %v, want the bag %v", got, inner)
	}
}

func TestBag_MalformedEntries_AreDroppedAndCounted(t *testing.T) {
	for text, want := range map[string]struct {
		left    string
		dropped int64
	}{
		`null`:                      {`null`, 0},
		`[]`:                        {`null`, 1},
		`"a"`:                       {`null`, 1},
		`{"a/b":1}`:                 {`null`, 1},
		`{"a/b":{"d":1},"c/d":{}}`:  {`{"a/b":{"d":1}}`, 1},
		`{"a/b":{"d":null}}`:        {`null`, 1},
		`{"a/b":{"d":1,"b":2}}`:     {`null`, 1},
		`{"a/b":{"d":1,"other":2}}`: {`null`, 1},
		`{"a/b":{"b":"x"},"":{"d":{}},"x":{"d":[1]}}`:       {`{"":{"d":{}},"x":{"d":[1]}}`, 1},
		"{ \"a/b\" :\n{\"d\" : \"\\u003c\" , \"b\":\"\"} }": {`{"a/b":{"d":"\u003c"}}`, 0},
	} {
		expectCounted(t, "conversion.bag.dropped", "entry", want.dropped, func() {
			if left := bagOf(t, text); jsonOf(t, left.OrNil()) != want.left && (want.left != "null" || left.OrNil() != nil) {
				t.Errorf("%s becomes %s, want %s", text, jsonOf(t, left), want.left)
			}
		})
	}
	var bag conversion.PropertyBag
	for _, text := range []string{"", " ", "{", "nul"} {
		if err := bag.UnmarshalJSON([]byte(text)); err != nil || bag != nil {
			t.Errorf("%q becomes %v, error %v", text, bag, err)
		}
	}
}

func TestBag_Clone_IsIndependent(t *testing.T) {
	bag := put(t, 1)
	clone := bag.Clone()
	clone.Remove(key)
	if err := clone.Put(other, 2); err != nil {
		t.Fatal(err)
	}
	if got := jsonOf(t, bag); got != `{"v1/probe":{"d":1}}` {
		t.Errorf("the bag is %s", got)
	}
	if got := jsonOf(t, conversion.PropertyBag{key: {}, other: clone[other]}); got != `{"v9/unheardOf":{"d":2}}` {
		t.Errorf("with an invalid entry the bag is %s", got)
	}
	var empty conversion.PropertyBag
	if empty.Clone() != nil || empty.OrNil() != nil || (conversion.PropertyBag{}).OrNil() != nil {
		t.Error("an empty bag is not nil")
	}
	empty.Remove(key)
}
