/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/conversion"
)

type keyed struct {
	Key  *string `json:"key,omitempty"`
	Text string  `json:"text,omitempty"`
}

func keyOf(element *keyed) *string { return element.Key }

func element(key, text string) keyed { return keyed{Key: &key, Text: text} }

func TestOrderOf_AndInOrder_KeepAList(t *testing.T) {
	for name, test := range map[string]struct {
		list  []keyed
		order []conversion.Place[keyed]
	}{
		"empty":    {[]keyed{}, nil},
		"sorted":   {[]keyed{element("a", "1"), element("b", "2")}, nil},
		"unsorted": {[]keyed{element("b", "1"), element("a", "2")}, []conversion.Place[keyed]{{Key: "b"}, {Key: "a"}}},
		"the same key twice": {
			[]keyed{element("a", "1"), element("a", "2")}, []conversion.Place[keyed]{{Key: "a"}, {Element: &keyed{Key: new("a"), Text: "2"}}},
		},
		"no key":       {[]keyed{{Text: "1"}}, []conversion.Place[keyed]{{Element: &keyed{Text: "1"}}}},
		"an empty key": {[]keyed{element("a", "1"), element("", "2")}, []conversion.Place[keyed]{{Key: "a"}, {Key: ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			order := conversion.OrderOf(test.list, keyOf)
			if diff := cmp.Diff(test.order, order); diff != "" {
				t.Error("the order (-want +got):", diff)
			}
			elements := make(map[string]keyed)
			for _, each := range test.list {
				if _, isThere := elements[conversion.Value(each.Key)]; each.Key != nil && !isThere {
					elements[*each.Key] = each
				}
			}
			if diff := cmp.Diff(test.list, conversion.InOrder(elements, order, keyOf)); diff != "" {
				t.Error("the list (-want +got):", diff)
			}
		})
	}
}

// Entries that a client writes into the annotation do not appear in the map.
func TestInOrder_IgnoresPlacesThatOrderOfDoesNotReturn(t *testing.T) {
	elements := map[string]keyed{"a": element("a", "1")}
	first, unknown := element("a", "2"), element("z", "3")
	order := []conversion.Place[keyed]{{Element: &first}, {Element: &unknown}, {Key: "z"}, {Key: "a"}, {Key: "a"}}
	if diff := cmp.Diff([]keyed{element("a", "1")}, conversion.InOrder(elements, order, keyOf)); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
