/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gengo would give the second of these to the wrong field and drop the others.
func TestReadSources_FindsStrayMarkersAndPositions(t *testing.T) {
	const source = `package v1

// Widget is read.
//
// +conversion:augment
type Widget struct {
	// +conversion:sensitive
	Read string
	Trailing string // +conversion:positional
	Next, Last string
	*metav1.Time
	Embedded
}

// +conversion:name=Apart

type Alone struct{}

// +conversion:skip
func f() {
	// +conversion:rename=Inside
}
`
	at := func(line int) token.Position { return token.Position{Filename: "types.go", Line: line} }
	got := &sources{positions: make(map[string]token.Position)}
	if err := got.read("types.go", []byte(source)); err != nil {
		t.Fatal(err)
	}
	wantStray := []Marker{
		{Name: "conversion:positional", Position: at(9)},
		{Name: "conversion:name", Value: "Apart", Position: at(15)},
		{Name: "conversion:skip", Position: at(19)},
		{Name: "conversion:rename", Value: "Inside", Position: at(21)},
	}
	if diff := cmp.Diff(wantStray, got.stray); diff != "" {
		t.Error("stray markers (-want +got):", diff)
	}
	wantPositions := map[string]token.Position{
		"": at(1), "Widget": at(6), "Widget.Read": at(8), "Widget.Trailing": at(9), "Widget.Next": at(10),
		"Widget.Last": at(10), "Widget.Time": at(11), "Widget.Embedded": at(12), "Alone": at(17),
	}
	if diff := cmp.Diff(wantPositions, got.positions); diff != "" {
		t.Error("positions (-want +got):", diff)
	}
}
