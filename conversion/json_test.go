/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"github.com/mallard-dev/mallard/conversion"
)

func TestCanonicalJSON_AnySpelling_IsTheSame(t *testing.T) {
	for text, want := range map[string]string{
		`null`: `null`, ` true `: `true`, `1.50`: `1.50`, `"a\u0062"`: `"ab"`, `"\u003c&\u2028é\ud83d\ude00\/"`: "\"<&\\u2028é😀/\"",
		`[ ]`: `[]`, `{ }`: `{}`, "[\n1 , [ ] ,{}]": `[1,[],{}]`,
		`{"b":1,"a":{"d":[{"f":1,"e":2}],"c":""}}`: `{"a":{"c":"","d":[{"e":2,"f":1}]},"b":1}`,
		`{"\u0062":1,"a":2,"b":3}`:                 `{"a":2,"b":3}`,
		`{"a\"b":"\\","":[]}`:                      `{"":[],"a\"b":"\\"}`,
		`{"ab":1,"a":2,"B":3,"é":4,"a b":5}`:       `{"B":3,"a":2,"a b":5,"ab":1,"é":4}`,
	} {
		got, err := conversion.Canonical(json.RawMessage(text))
		if err != nil || string(got) != want {
			t.Errorf("%s becomes %s, want %s, error %v", text, got, want, err)
		}
		again, err := conversion.Canonical(json.RawMessage(got))
		if err != nil || string(again) != want {
			t.Errorf("%s becomes %s the second time, error %v", text, again, err)
		}
	}
}

// Which characters are escaped is what encoding/json says, whichever way it is found out.
func TestCanonicalJSON_Text_IsEscapedAsByEncodingJSON(t *testing.T) {
	for _, text := range []string{"\xff", "a\xe2\x80", "\x7f", "\u2027", "\u2028", "\u2029", "\u202a", "\ufeff", "\ufffd", "\uffff", "é<>&", "\u6f22", "😀", "é\t\\\"/"} {
		for _, value := range []any{text, []string{text}, map[string]string{text: text}} {
			got, err := conversion.Canonical(value)
			if err != nil {
				t.Fatal(err)
			}
			// Bytes that are no UTF-8 are another character once they have been read.
			var want bytes.Buffer
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(meaning(t, got)); err != nil {
				t.Fatal(err)
			}
			if string(got) != string(bytes.TrimSpace(want.Bytes())) {
				t.Errorf("%q becomes %s, want %s", text, got, want.Bytes())
			}
			expectCanonical(t, got)
		}
	}
}

func TestEqual_SimilarValues_IsStrict(t *testing.T) {
	type lists struct {
		A []int `json:"a"`
		B *int  `json:"b,omitempty"`
	}
	for name, c := range map[string]struct {
		a, b any
		want bool
	}{
		"same content":             {map[string]any{"a": []int{1}}, lists{A: []int{1}}, true},
		"nil and empty":            {lists{}, lists{A: []int{}}, false},
		"absent and explicit zero": {lists{}, lists{B: new(0)}, false},
	} {
		if got, err := conversion.Equal(c.a, c.b); got != c.want || err != nil {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
	for _, pair := range [][2]any{{math.NaN(), 1}, {1, math.NaN()}} {
		if _, err := conversion.Equal(pair[0], pair[1]); err == nil {
			t.Errorf("%v can be compared", pair)
		}
	}
}

func TestFingerprint_DifferentContents_Differ(t *testing.T) {
	seen := map[string]any{}
	for _, value := range []any{nil, 0, "", "0", []int{}, []int{0}, map[string]int{}, map[string]int{"": 0}, false} {
		fingerprint := conversion.Fingerprint(value)
		if before, ok := seen[fingerprint]; ok || fingerprint == "" {
			t.Errorf("%#v and %#v have the same fingerprint %q", value, before, fingerprint)
		}
		seen[fingerprint] = value
	}
	// Annotations that are stored hold fingerprints, so they must not change from release to release.
	if got := conversion.Fingerprint(map[string]any{"b": []int{1}, "a": "<"}); got != "A6wmmH4nB3M" {
		t.Errorf("fingerprint %s", got)
	}
	if got := conversion.Fingerprint(math.Inf(-1)); got != "" {
		t.Errorf("fingerprint %s of what cannot be marshaled", got)
	}
}

func TestKeys_OfSeveralFields_AreDistinct(t *testing.T) {
	for want, got := range map[string]string{
		"a": conversion.Key("a"), "": conversion.Key(""), "[80]": conversion.Key(80), `["a",80]`: conversion.Key("a", int32(80)),
		`["a","<"]`: conversion.Key("a", "<"), "[null]": conversion.Key(nil),
	} {
		if got != want {
			t.Errorf("key %s, want %s", got, want)
		}
	}
}

func expectCanonical(t *testing.T, text []byte) {
	t.Helper()
	if !json.Valid(text) {
		return
	}
	once, err := conversion.Canonical(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	twice, err := conversion.Canonical(json.RawMessage(once))
	if err != nil || string(once) != string(twice) {
		t.Errorf("%s becomes %s and then %s, error %v", text, once, twice, err)
	}
	if got, want := meaning(t, once), meaning(t, text); !reflect.DeepEqual(got, want) {
		t.Errorf("%s means %v, want %v", once, got, want)
	}
}

func meaning(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
