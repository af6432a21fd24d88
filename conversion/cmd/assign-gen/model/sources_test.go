/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A marker belongs to the type or field directly below it. One elsewhere is reported.
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

// +conversion:name=Long
type Short struct{ Field string }

// +conversion:skip
func f() {
	// +conversion:rename=Inside
}
`
	at := func(line int) token.Position { return token.Position{Filename: "types.go", Line: line} }
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "types.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	got := newSources()
	got.read(files, file, "types.go")
	wantStray := []Marker{
		{Name: "conversion:positional", Position: at(9)},
		{Name: "conversion:name", Value: "Apart", Position: at(15)},
		{Name: "conversion:skip", Position: at(22)},
		{Name: "conversion:rename", Value: "Inside", Position: at(24)},
	}
	if diff := cmp.Diff(wantStray, got.stray); diff != "" {
		t.Error("stray markers (-want +got):", diff)
	}
	wantPositions := map[string]token.Position{
		"": at(1), "Widget": at(6), "Widget.Read": at(8), "Widget.Trailing": at(9), "Widget.Next": at(10),
		"Widget.Last": at(10), "Widget.Time": at(11), "Widget.Embedded": at(12), "Alone": at(17),
		"Short": at(20), "Short.Field": at(20),
	}
	if diff := cmp.Diff(wantPositions, got.positions); diff != "" {
		t.Error("positions (-want +got):", diff)
	}
	// The comment of a struct in one line is that of the type.
	wantMarkers := map[string][]Marker{
		"Widget": {{Name: "conversion:augment"}}, "Alone": nil, "Short": {{Name: "conversion:name", Value: "Long"}},
	}
	if diff := cmp.Diff(wantMarkers, got.markers); diff != "" {
		t.Error("markers of types (-want +got):", diff)
	}
	var ofFields []Marker
	for _, markers := range got.fieldMarkers {
		ofFields = append(ofFields, markers...)
	}
	if diff := cmp.Diff([]Marker{{Name: "conversion:sensitive"}}, ofFields); diff != "" {
		t.Error("markers of fields (-want +got):", diff)
	}
}
