/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion"
)

// Functions for tests: a list of words and a text, which loses words with spaces and the difference between none and one empty word.

func joined(words []string) *string {
	if len(words) == 0 {
		return nil
	}
	return new(strings.Join(words, " "))
}

func split(text *string) []string { return strings.Fields(*text) }

func TestRoundTrip_Conversion_ReportsWhetherItIsExact(t *testing.T) {
	for name, test := range map[string]struct {
		words []string
		want  *string
		exact bool
	}{
		"invertible":                      {[]string{"a", "b"}, new("a b"), true},
		"changed on the way back":         {[]string{"a b"}, new("a b"), false},
		"shown as nothing":                {[]string{}, nil, false},
		"nothing, which no function gets": {nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, exact := conversion.RoundTrip(test.words, joined, split)
			if diff := cmp.Diff(test.want, got); diff != "" || exact != test.exact {
				t.Errorf("exact is %v, want %v (-want +got): %s", exact, test.exact, diff)
			}
		})
	}
}

// A value that cannot be compared is not exact.
func TestRoundTrip_ValueThatIsNoJSON_IsNotExact(t *testing.T) {
	same := func(value any) any { return value }
	if _, exact := conversion.RoundTrip(any(func() {}), same, same); exact {
		t.Error("a function compares equal to another one")
	}
}

// Derive restores the original, in both directions, until the converted value is changed.
func TestDerive_LossyFunctions_RestoreTheOriginal(t *testing.T) {
	const older, newer = "v1beta1/words", "v1/text"
	var bag conversion.PropertyBag
	up := func(words []string) (text *string) {
		t.Helper()
		if err := conversion.Derive(&bag, newer, older, words, &text, joined, split); err != nil {
			t.Fatal(err)
		}
		return text
	}
	down := func(text *string) (words []string) {
		t.Helper()
		if err := conversion.Derive(&bag, older, newer, text, &words, split, joined); err != nil {
			t.Fatal(err)
		}
		return words
	}

	if got := up([]string{"a b", "c"}); *got != "a b c" || len(bag) != 1 {
		t.Errorf("the text is %q, the bag is %v", *got, bag)
	}
	if got := down(new("a b c")); !slices.Equal(got, []string{"a b", "c"}) || len(bag) != 0 {
		t.Errorf("unchanged, the words are %q, the bag is %v", got, bag)
	}
	up([]string{"a b", "c"})
	if got := down(new("a b d")); !slices.Equal(got, []string{"a", "b", "d"}) || len(bag) != 0 {
		t.Errorf("changed, the words are %q, the bag is %v", got, bag)
	}
	down(new(" a"))
	if got := up([]string{"a"}); *got != " a" {
		t.Errorf("unchanged, the text is %q", *got)
	}
	up([]string{})
	if got := down(nil); got == nil || len(got) != 0 {
		t.Errorf("an empty list that was shown as nothing is %#v", got)
	}
	if got := down(nil); got != nil || len(bag) != 0 {
		t.Errorf("of nothing became %q, the bag is %v", got, bag)
	}
}

// An error names the entry, and the destination is set all the same.
func TestDerive_OriginalThatIsNoJSON_ReturnsError(t *testing.T) {
	var bag conversion.PropertyBag
	var out *string
	there := func(chan int) *string { return new("x") }
	err := conversion.Derive(&bag, "v1/text", "v1beta1/channel", make(chan int), &out, there, func(*string) chan int { return nil })
	if err == nil || !strings.Contains(err.Error(), "v1beta1/channel") || len(bag) != 0 || out == nil {
		t.Errorf("the error is %v, the bag is %v, the value %v", err, bag, out)
	}
}

// A label names the prefix that a function takes away. The original of a text with another prefix holds good until the label is another one.
func TestDeriveWith_DropsAnOriginalThatIsNotShownAnyMore(t *testing.T) {
	cut := func(text *string, prefix string) *string { return new(strings.TrimPrefix(*text, prefix)) }
	add := func(text *string, prefix string) *string { return new(prefix + *text) }
	for name, test := range map[string]struct{ prefix, want string }{
		"the same label":                    {"a/", "b/x"},
		"one by which the original changes": {"b/", "b/b/x"},
		"one by which it does not":          {"c/", "b/x"},
	} {
		t.Run(name, func(t *testing.T) {
			var bag conversion.PropertyBag
			var shown, again *string
			if err := conversion.DeriveWith(&bag, "v1/short", "v1beta1/long", new("b/x"), &shown, cut, add, "a/"); err != nil {
				t.Fatal(err)
			}
			if err := conversion.DeriveWith(&bag, "v1beta1/long", "v1/short", shown, &again, add, cut, test.prefix); err != nil {
				t.Fatal(err)
			}
			if *again != test.want {
				t.Errorf("%q, which was b/x, is %q, want %q", *shown, *again, test.want)
			}
		})
	}
}

func TestWith_AnotherPartOfTheObject_IsPassed(t *testing.T) {
	prefixed := func(text *string, prefix string) *string { return new(prefix + *text) }
	if got := *conversion.With(prefixed, "a/")(new("b")); got != "a/b" {
		t.Errorf("the value is %q", got)
	}
}
