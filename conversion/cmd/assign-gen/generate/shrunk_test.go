/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"slices"
	"strings"
	"testing"
)

// A fault may need several fields, or one of several.
func TestShrunk_FaultyAPI_KeepsTheFieldsOfTheFault(t *testing.T) {
	structOf := func(names ...string) *randomStruct {
		s := &randomStruct{}
		for _, name := range names {
			s.fields = append(s.fields, randomField{name: name})
		}
		return s
	}
	api := &randomAPI{
		older: []*randomStruct{structOf("A", "B", "C"), structOf("D", "E")},
		newer: []*randomStruct{structOf("F"), structOf("G", "H", "I")},
	}
	for name, test := range map[string]struct {
		isFaulty func(fields string) bool
		want     string
	}{
		"two of them":  {func(fields string) bool { return strings.Contains(fields, "B") && strings.Contains(fields, "H") }, "BH"},
		"one of three": {func(fields string) bool { return strings.ContainsAny(fields, "AEI") }, "I"},
		"always":       {func(string) bool { return true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			small := api.shrunk(func(all ...*randomAPI) []bool {
				faulty := make([]bool, len(all))
				for i, each := range all {
					faulty[i] = test.isFaulty(fieldsOf(each))
				}
				return faulty
			})
			if got := fieldsOf(small); got != test.want {
				t.Errorf("the smaller API has the fields %q, want %q", got, test.want)
			}
			if got := fieldsOf(api); got != "ABCDEFGHI" {
				t.Errorf("the original has the fields %q", got)
			}
		})
	}
}

// fieldsOf are the names of the fields of both versions.
func fieldsOf(api *randomAPI) string {
	var names strings.Builder
	for _, each := range slices.Concat(api.older, api.newer) {
		for _, field := range each.fields {
			names.WriteString(field.name)
		}
	}
	return names.String()
}
