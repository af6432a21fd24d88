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
	"slices"
	"strings"
)

// ourMarkers is the prefix of the names of this generator's markers.
const ourMarkers = "conversion"

// sources holds the contents of the files of a package that gengo does not keep.
type sources struct {
	// positions are the files and lines of the package clause, "", of types, "Type", and of fields, "Type.Field".
	positions map[string]token.Position
	// stray are the markers of this generator in comments that gengo attaches to nothing, or to the wrong thing: at the end of
	// a line, separated by an empty line, inside of a function. Their authors expect them to have an effect.
	stray []Marker
}

// readSources reads the hand-written files of a folder.
func readSources(dir string) (*sources, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	result := &sources{positions: make(map[string]token.Position)}
	for _, name := range names {
		if base := filepath.Base(name); strings.HasPrefix(base, "zz_generated.") || strings.HasSuffix(base, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a source: %w", err)
		}
		if err := result.read(Relative(name), content); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Relative returns a file's path from the working directory, as the go command prints it.
func Relative(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return file
	}
	if path, err := filepath.Rel(here, file); err == nil {
		return path
	}
	return file
}

// read adds a file.
func (s *sources) read(name string, content []byte) error {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parsing %s: %w", name, err)
	}
	position := func(of ast.Node) token.Position {
		return token.Position{Filename: name, Line: positions.Position(of.Pos()).Line}
	}
	isDoc := filepath.Base(name) == "doc.go"
	if isDoc || s.positions[""].Line == 0 {
		s.positions[""] = position(file.Name)
	}
	var attached []*ast.CommentGroup
	for _, declaration := range file.Decls {
		if general, ok := declaration.(*ast.GenDecl); ok && general.Tok == token.TYPE {
			attached = append(attached, s.types(general, position)...)
		}
	}
	for _, group := range file.Comments {
		if isDoc || slices.Contains(attached, group) { // every comment of doc.go is read
			continue
		}
		for _, marker := range markersIn(strings.Split(group.Text(), "\n")) {
			if strings.HasPrefix(marker.Name, ourMarkers) {
				marker.Position = position(group)
				s.stray = append(s.stray, marker)
			}
		}
	}
	return nil
}

// types adds the positions of declared types and their fields, and returns the comments directly above them.
func (s *sources) types(declaration *ast.GenDecl, position func(of ast.Node) token.Position) []*ast.CommentGroup {
	var attached []*ast.CommentGroup
	if !declaration.Lparen.IsValid() {
		attached = append(attached, declaration.Doc)
	}
	for _, spec := range declaration.Specs {
		declared, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		s.positions[declared.Name.Name] = position(declared)
		attached = append(attached, declared.Doc)
		fields, ok := declared.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range fields.Fields.List {
			attached = append(attached, field.Doc)
			for _, name := range fieldNames(field) {
				s.positions[declared.Name.Name+"."+name] = position(field)
			}
		}
	}
	return attached
}

// fieldNames are the names that a line of a struct declares. An embedded field has the name of its type.
func fieldNames(field *ast.Field) []string {
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	if names != nil {
		return names
	}
	embedded := field.Type
	if pointer, ok := embedded.(*ast.StarExpr); ok {
		embedded = pointer.X
	}
	switch t := embedded.(type) {
	case *ast.SelectorExpr:
		return []string{t.Sel.Name}
	case *ast.Ident:
		return []string{t.Name}
	default:
		return nil
	}
}
