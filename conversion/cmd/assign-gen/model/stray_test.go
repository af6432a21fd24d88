/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gengo would give the second of these to the wrong field and drop the others.
func TestMarkersThatBelongToNothingAreFound(t *testing.T) {
	const source = `package v1

// Widget is read.
//
// +conversion:augment
type Widget struct {
	// +conversion:sensitive
	Read string
	Trailing string // +conversion:positional
	Next string
}

// +conversion:name=Apart

type Alone struct{}

// +conversion:skip
func f() {
	// +conversion:rename=Inside
}
`
	got, err := strayMarkersIn("types.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	want := []Marker{
		{Name: "conversion:positional", Where: "types.go:9"},
		{Name: "conversion:name", Value: "Apart", Where: "types.go:13"},
		{Name: "conversion:skip", Where: "types.go:17"},
		{Name: "conversion:rename", Value: "Inside", Where: "types.go:19"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):", diff)
	}
}
