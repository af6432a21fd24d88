/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package model

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const ourMarkers = "conversion"

// sources holds the comments of a package, and where it declares what.
type sources struct {
	// positions are the files and lines of the package clause, "", of types, "Type", and of fields, "Type.Field".
	positions map[string]token.Position
	// markers are those of doc.go, "", and of types. Those of fields are by the places of their names, which types share that are made of
	// one another.
	markers      map[string][]Marker
	fieldMarkers map[token.Pos][]Marker
	// stray are the markers of this generator in comments that belong to nothing: at the end of a line, separated by an empty line,
	// inside of a function. Their authors expect them to have an effect.
	stray []Marker
}

func newSources() *sources {
	return &sources{
		positions: make(map[string]token.Position), markers: make(map[string][]Marker), fieldMarkers: make(map[token.Pos][]Marker),
	}
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

func (s *sources) read(files *token.FileSet, file *ast.File, name string) {
	position := func(of ast.Node) token.Position {
		return token.Position{Filename: name, Line: files.Position(of.Pos()).Line}
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
		markers := markersIn(group)
		if isDoc { // of which every comment is read
			s.markers[""] = append(s.markers[""], markers...)
			continue
		}
		for _, marker := range markers {
			if strings.HasPrefix(marker.Name, ourMarkers) && !slices.Contains(attached, group) {
				marker.Position = position(group)
				s.stray = append(s.stray, marker)
			}
		}
	}
}

// types adds what is known of declared types and their fields, and returns the comments directly above them.
func (s *sources) types(declaration *ast.GenDecl, position func(of ast.Node) token.Position) []*ast.CommentGroup {
	var attached []*ast.CommentGroup
	for _, spec := range declaration.Specs {
		declared, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		comment := declared.Doc
		if !declaration.Lparen.IsValid() {
			comment = declaration.Doc
		}
		attached = append(attached, comment)
		s.positions[declared.Name.Name], s.markers[declared.Name.Name] = position(declared), markersIn(comment)
		fields, ok := declared.Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range fields.Fields.List {
			attached = append(attached, field.Doc)
			for _, name := range fieldNames(field) {
				s.positions[declared.Name.Name+"."+name.Name] = position(field)
				s.fieldMarkers[name.Pos()] = markersIn(field.Doc)
			}
		}
	}
	return attached
}

// fieldNames are the names that a line of a struct declares. An embedded field has the name of its type.
func fieldNames(field *ast.Field) []*ast.Ident {
	if field.Names != nil {
		return field.Names
	}
	embedded := field.Type
	for {
		switch t := embedded.(type) {
		case *ast.StarExpr:
			embedded = t.X
		case *ast.IndexExpr: // an instance of a generic type
			embedded = t.X
		case *ast.IndexListExpr:
			embedded = t.X
		case *ast.SelectorExpr:
			return []*ast.Ident{t.Sel}
		case *ast.Ident:
			return []*ast.Ident{t}
		default:
			return nil
		}
	}
}

// markersIn returns the lines of a comment that begin with a plus sign and a letter, in their order.
func markersIn(comment *ast.CommentGroup) []Marker {
	var markers []Marker
	for line := range strings.Lines(comment.Text()) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "+")
		if !ok || text == "" || text[0] < 'A' {
			continue
		}
		name, value, _ := strings.Cut(text, "=")
		markers = append(markers, Marker{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
	}
	return markers
}
