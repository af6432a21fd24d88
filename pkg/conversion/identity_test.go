/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// In these lists a letter is an element's content; what is stashed for it is known by its letter and place at the time.
func TestElementsWithoutKeysAreFoundAgain(t *testing.T) {
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
		var children []node
		for i, content := range strings.Split(c.before, "") {
			children = append(children, node{name: strconv.Itoa(i) + ":" + content})
		}
		// As in a tree, by name rather than by place.
		slices.SortFunc(children, func(a, b node) int { return strings.Compare(a.name, b.name) })
		elements := slices.Collect(strings.SplitSeq(c.after, ""))
		if c.after == "" {
			elements = nil
		}
		var got []string
		for _, child := range match(children, elements) {
			if child < 0 {
				got = append(got, "-")
				continue
			}
			index, content, _ := strings.Cut(children[child].name, ":")
			got = append(got, content+index)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s→%s finds %v, want %s", reason, c.before, c.after, got, c.want)
		}
	}
}

func TestManyElementsKeepTheirPlaces(t *testing.T) {
	const many = 1000
	var children []node
	var elements []string
	for i := range many {
		children = append(children, node{name: strconv.Itoa(i) + ":" + strconv.Itoa(i%7)})
		elements = append(elements, strconv.Itoa(i%7))
	}
	slices.SortFunc(children, func(a, b node) int { return strings.Compare(a.name, b.name) })
	for at, child := range match(children, elements) {
		if want := strconv.Itoa(at) + ":" + strconv.Itoa(at%7); children[child].name != want {
			t.Fatalf("element %d has %s, want %s", at, children[child].name, want)
		}
	}
}

func TestNamesThatAreNoIdentitiesFindNothing(t *testing.T) {
	children := []node{{name: ""}, {name: "-1:a"}, {name: ":a"}, {name: "0"}, {name: "1e3:a"}, {name: "99999999999999999999:a"}, {name: "7:a"}}
	if got := match(children[:6], []string{"a", "b"}); !slices.Equal(got, []int{-1, -1}) {
		t.Errorf("found %v", got)
	}
	// A fingerprint that could not be made is like no other.
	if got := match([]node{{name: "0:"}, {name: "1:"}}, []string{""}); !slices.Equal(got, []int{-1}) {
		t.Errorf("found %v", got)
	}
	if got := match([]node{{name: "0:"}}, []string{"a", ""}); !slices.Equal(got, []int{-1, -1}) {
		t.Errorf("found %v", got)
	}
}
