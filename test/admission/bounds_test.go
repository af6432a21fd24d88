/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"slices"
	"strings"
)

// bound is a bound of the schema, with changes that it rejects and the nearest that it lets pass.
type bound struct {
	// path is the field in the schema, with [] for the items of a list; field is what a rejection names if not that.
	path, field string
	// keyword is that by which the schema states the bound, and rule the CEL expression if it is a rule.
	keyword, rule string
	// says is the text of the rejection other than the field's path.
	says               string
	rejected, accepted []change
	// behind is the rejection after the defaulting webhook where that differs: it adds its defaults to a spec that is left out.
	behind *rejection
}

func (b bound) String() string { return strings.TrimSpace(b.path + " " + b.keyword + " " + b.rule) }

// bounds are all bounds of the spec, by version; TestSchema_Bounds_EachHasACase sees to that.
var bounds = map[string][]bound{
	"v1alpha1": boundsOfV1alpha1,
	"v1beta1":  slices.Concat(boundsOfV1beta1, boundsOfRef, boundsOfPath),
	hub:        slices.Concat(boundsOfV1, boundsOfPorts, boundsOfRef, boundsOfPath),
}

const tooShort = "should be at least 1 chars long"

// required is the bound that a field has to be set. Its last arguments are further changes that are accepted.
func required(path string, behind *rejection, accepted ...change) bound {
	return bound{
		path: path, keyword: "required", says: "Required value", rejected: []change{unset(strings.ReplaceAll(path, "[]", ".0"))},
		accepted: append(accepted, all()), behind: behind,
	}
}

// leftOut is the rejection of an object without a required field.
func leftOut(path string) *rejection { return &rejection{path: path, says: "Required value"} }

// values are changes of one field, each to another value.
func values(path string, vs ...any) []change {
	changes := make([]change, 0, len(vs))
	for _, v := range vs {
		changes = append(changes, set(path, v))
	}
	return changes
}

// long returns a text of n characters.
func long(n int) string { return strings.Repeat("a", n) }
