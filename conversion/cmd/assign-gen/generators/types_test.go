/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generators

import (
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// encoding/json asks a method IsZero, if there is one, whether omitzero leaves a field out: also of a pointer that is not nil.
func TestStorageTypes_Omitzero_OmitNilOnly(t *testing.T) {
	basic := &model.Type{Kind: model.Basic, Name: "string"}
	slice := &model.Type{Kind: model.Slice, Elem: basic}
	quantity := &model.Type{Kind: model.Named, Name: "Quantity", Underlying: &model.Type{Kind: model.Struct}, Methods: []string{"IsZero"}}
	for name, test := range map[string]struct {
		storage *model.Type
		want    string
	}{
		"a pointer":                   {&model.Type{Kind: model.Pointer, Elem: basic}, ",omitempty"},
		"a pointer with IsZero":       {&model.Type{Kind: model.Pointer, Elem: quantity}, ",omitempty"},
		"a slice":                     {slice, ",omitzero"},
		"a slice with a name":         {&model.Type{Kind: model.Named, Underlying: slice}, ",omitzero"},
		"a slice with IsZero":         {&model.Type{Kind: model.Named, Underlying: slice, Methods: []string{"IsZero"}}, ""},
		"a slice of such pointers":    {&model.Type{Kind: model.Slice, Elem: &model.Type{Kind: model.Pointer, Elem: quantity}}, ",omitzero"},
		"a map that holds quantities": {&model.Type{Kind: model.Map, Key: basic, Elem: quantity}, ",omitzero"},
	} {
		if got := omitNil(test.storage); got != test.want {
			t.Errorf("%s has the option %q, want %q", name, got, test.want)
		}
	}
}
