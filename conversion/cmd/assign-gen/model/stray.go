/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// ourMarkers is what the names of this generator's markers begin with.
const ourMarkers = "conversion"

// strayMarkers returns the markers of this generator that stand in comments which gengo attaches to nothing, or to the
// wrong thing: at the end of a line, apart from what they mean by an empty line, inside of a function. Whoever wrote one
// believes that it is obeyed.
func strayMarkers(dir string) ([]Marker, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	var stray []Marker
	for _, name := range names {
		base := filepath.Base(name)
		if base == "doc.go" || strings.HasPrefix(base, "zz_generated.") || strings.HasSuffix(base, "_test.go") {
			continue // every comment of doc.go is read
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a source: %w", err)
		}
		found, err := strayMarkersIn(base, content)
		if err != nil {
			return nil, err
		}
		stray = append(stray, found...)
	}
	return stray, nil
}

func strayMarkersIn(name string, content []byte) ([]Marker, error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	attached := attachedComments(file)
	var stray []Marker
	for _, group := range file.Comments {
		if attached[group] {
			continue
		}
		for _, marker := range markersIn(strings.Split(group.Text(), "\n")) {
			if strings.HasPrefix(marker.Name, ourMarkers) {
				marker.Where = fmt.Sprintf("%s:%d", name, positions.Position(group.Pos()).Line)
				stray = append(stray, marker)
			}
		}
	}
	return stray, nil
}

// attachedComments are those directly above a type or a field of a struct.
func attachedComments(file *ast.File) map[*ast.CommentGroup]bool {
	attached := make(map[*ast.CommentGroup]bool)
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.TYPE {
			continue
		}
		if !general.Lparen.IsValid() {
			attached[general.Doc] = true
		}
		for _, spec := range general.Specs {
			declared, ok := spec.(*ast.TypeSpec)
			if !ok {
				continue
			}
			attached[declared.Doc] = true
			if fields, ok := declared.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					attached[field.Doc] = true
				}
			}
		}
	}
	delete(attached, nil)
	return attached
}
