/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"testing"
)

// keptMethods are the methods that come with a type. All other methods are copied only if a copied function calls them.
var keptMethods = map[string]bool{
	"DeepCopy": true, "DeepCopyInto": true, "DeepCopyObject": true,
	"IsZero": true, "MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
}

// extractor copies kinds with all declarations that they need out of the packages of an API.
type extractor struct {
	files *token.FileSet
	// sources are the packages of the API by import path.
	sources map[string]*source
	// units are the declarations by the objects that they declare.
	units map[types.Object]*unit
	// kept are the declarations to copy.
	kept map[*unit]bool
}

// source is a package of the API.
type source struct {
	path    string
	files   []*file
	checked *types.Package
	info    types.Info
}

// file is a Go file with its content, of which declarations are copied byte for byte.
type file struct {
	name    string
	content []byte
	syntax  *ast.File
	// base is the position of the content's first byte.
	base token.Pos
}

// unit is the smallest part of a file that is copied: a type, a function, a variable, or a group of constants.
type unit struct {
	source *source
	file   *file
	// node is the declaration, and doc its comment.
	node ast.Node
	doc  *ast.CommentGroup
	// keyword precedes a declaration that was part of a group.
	keyword string
}

func newExtractor() *extractor {
	return &extractor{
		files: token.NewFileSet(), sources: make(map[string]*source),
		units: make(map[types.Object]*unit), kept: make(map[*unit]bool),
	}
}

// parse reads the files of a package.
func (e *extractor) parse(t testing.TB, importPath, dir string) {
	t.Helper()
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatalf("reading package %s: %v", importPath, err)
	}
	added := &source{path: importPath, info: types.Info{Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)}}
	for _, name := range pkg.GoFiles {
		content := read(t, filepath.Join(dir, name))
		syntax, err := parser.ParseFile(e.files, filepath.Join(dir, name), content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("parsing package %s: %v", importPath, err)
		}
		added.files = append(added.files, &file{name: name, content: content, syntax: syntax, base: syntax.FileStart})
	}
	e.sources[importPath] = added
}

// checkAll resolves the names in all packages.
func (e *extractor) checkAll() {
	for _, each := range e.sources {
		if each.checked == nil {
			e.check(each)
		}
	}
}

// Import implements types.Importer. Packages outside of the API are empty: only their names are needed. An import that names no package
// names the one that is called like the last element of the path.
func (e *extractor) Import(importPath string) (*types.Package, error) {
	wanted := e.sources[importPath]
	if wanted == nil {
		empty := types.NewPackage(importPath, path.Base(importPath))
		empty.MarkComplete()
		return empty, nil
	}
	if wanted.checked == nil {
		e.check(wanted)
	}
	return wanted.checked, nil
}

// check resolves the names in a package.
func (e *extractor) check(s *source) {
	syntax := make([]*ast.File, len(s.files))
	for i, each := range s.files {
		syntax[i] = each.syntax
	}
	config := types.Config{Importer: e, Error: func(error) { /* the empty packages lack everything */ }}
	s.checked, _ = config.Check(s.path, e.files, syntax, &s.info)
	for _, each := range s.files {
		for _, declaration := range each.syntax.Decls {
			e.divide(s, each, declaration)
		}
	}
}

// divide finds the units of a declaration.
func (e *extractor) divide(s *source, in *file, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		e.declare(&unit{source: s, file: in, node: d, doc: d.Doc}, d.Name)
	case *ast.GenDecl:
		switch d.Tok {
		case token.TYPE:
			for _, each := range d.Specs {
				spec := each.(*ast.TypeSpec)
				e.declare(alone(&unit{source: s, file: in}, d, spec, spec.Doc), spec.Name)
			}
		case token.VAR:
			for _, each := range d.Specs {
				spec := each.(*ast.ValueSpec)
				e.declare(alone(&unit{source: s, file: in}, d, spec, spec.Doc), spec.Names...)
			}
		case token.CONST:
			group := &unit{source: s, file: in, node: d, doc: d.Doc}
			for _, each := range d.Specs {
				e.declare(group, each.(*ast.ValueSpec).Names...)
			}
		default: // write generates the imports
		}
	}
}

// alone makes a separate declaration of a part of a group.
func alone(u *unit, group *ast.GenDecl, spec ast.Spec, doc *ast.CommentGroup) *unit {
	if !group.Lparen.IsValid() {
		u.node, u.doc = group, group.Doc
		return u
	}
	u.node, u.doc, u.keyword = spec, doc, group.Tok.String()+" "
	return u
}

func (e *extractor) declare(u *unit, names ...*ast.Ident) {
	for _, name := range names {
		if object := u.source.info.Defs[name]; object != nil {
			e.units[object] = u
		}
	}
}
