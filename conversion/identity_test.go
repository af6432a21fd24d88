/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// In these lists a letter is an element's content; what is stashed for it is known by its letter and place at the time.
func TestIdentity_ElementsWithoutKeys_AreFoundAgain(t *testing.T) {
	for reason, c := range map[string]struct{ before, after, want string }{
		"unchanged":                                   {"abc", "abc", "a0 b1 c2"},
		"reordered":                                   {"abc", "cab", "c2 a0 b1"},
		"one inserted before":                         {"abc", "xabc", "- a0 b1 c2"},
		"one inserted between":                        {"abc", "abxc", "a0 b1 - c2"},
		"one deleted":                                 {"abc", "bc", "b1 c2"},
		"one edited":                                  {"abc", "axc", "a0 b1 c2"},
		"all edited":                                  {"ab", "xy", "a0 b1"},
		"reordered, one inserted, one deleted":        {"abc", "cxa", "c2 - a0"},
		"replaced by more":                            {"ab", "xyz", "- - -"},
		"edited while another was deleted":            {"abc", "xc", "- c2"},
		"emptied":                                     {"abc", "", ""},
		"copies in place":                             {"aab", "aab", "a0 a1 b2"},
		"copies moved together":                       {"aab", "baa", "b2 a1 a0"},
		"copies moved beyond their places":            {"aabc", "bcaa", "b2 c3 a0 a1"},
		"copies beyond ten moved together":            {"bcdefghijaka", "aabcdefghijk", "a9 a11 b0 c1 d2 e3 f4 g5 h6 i7 j8 k10"},
		"a copy added elsewhere is ambiguous":         {"ab", "xaa", "- - -"},
		"a copy added behind is new":                  {"a", "aa", "a0 -"},
		"edited in place while others swapped":        {"abc", "bax", "b1 a0 -"},
		"deleted and another added at the same place": {"abc", "axc", "a0 b1 c2"},
	} {
		children, names := map[string]*node{}, map[*node]string{}
		for i, content := range strings.Split(c.before, "") {
			child := &node{}
			children[strconv.Itoa(i)+":"+content], names[child] = child, content+strconv.Itoa(i)
		}
		elements := slices.Collect(strings.SplitSeq(c.after, ""))
		if c.after == "" {
			elements = nil
		}
		var got []string
		for _, child := range match(children, elements) {
			got = append(got, cmp.Or(names[child], "-"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s→%s finds %v, want %s", reason, c.before, c.after, got, c.want)
		}
	}
}

func TestIdentity_ManyElements_KeepTheirPlaces(t *testing.T) {
	const many = 1000
	children := map[string]*node{}
	var elements []string
	for i := range many {
		children[strconv.Itoa(i)+":"+strconv.Itoa(i%7)] = &node{}
		elements = append(elements, strconv.Itoa(i%7))
	}
	for at, child := range match(children, elements) {
		if want := strconv.Itoa(at) + ":" + strconv.Itoa(at%7); child == nil || child != children[want] {
			t.Fatalf("element %d has another's than %s", at, want)
		}
	}
}

func TestIdentity_NamesThatAreNoIdentities_FindNothing(t *testing.T) {
	for _, c := range []struct{ names, elements []string }{
		{[]string{"", "-1:a", ":a", "0", "1e3:a", "99999999999999999999:a"}, []string{"a", "b"}},
		// A fingerprint that could not be made is like no other.
		{[]string{"0:", "1:"}, []string{""}},
		{[]string{"0:"}, []string{"a", ""}},
	} {
		children := map[string]*node{}
		for _, name := range c.names {
			children[name] = &node{}
		}
		if got := match(children, c.elements); slices.ContainsFunc(got, func(n *node) bool { return n != nil }) || len(got) != len(c.elements) {
			t.Errorf("%q finds %v", c.names, got)
		}
	}
}
