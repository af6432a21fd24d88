/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// source is a Go file, by its path from the root of the repository.
type source struct {
	*ast.File

	path string
}

// sources parses the hand-written Go files below folders, without tests and test data. A folder that does not exist has no files.
func sources(root string, folders ...string) ([]source, error) {
	var found []source
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			name := filepath.Base(path)
			switch {
			case os.IsNotExist(err):
				return nil
			case err != nil:
				return err
			case entry.IsDir() && (name == "testdata" || name == "client"):
				return fs.SkipDir
			case entry.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_generated"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("parsing: %w", err)
			}
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return fmt.Errorf("finding the folder: %w", err)
			}
			found = append(found, source{file, filepath.ToSlash(relative)})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// constant is a constant with a string as its value. Its comments are joined lines.
type constant struct {
	name, value string
	// typ is the name of its type without the package, or empty.
	typ string
	// doc is its comment, and block that of the declaration that contains it.
	doc, block string
}

// constants returns the constants of a file, in order.
func constants(file source) []constant {
	var found []constant
	for _, declaration := range file.Decls {
		general, ok := declaration.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST {
			continue
		}
		for _, spec := range general.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if !ok || len(value.Names) != 1 || len(value.Values) != 1 {
				continue
			}
			literal, ok := value.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				continue
			}
			c := constant{name: value.Names[0].Name, value: text, doc: joined(value.Doc.Text()), block: joined(general.Doc.Text())}
			if c.doc == "" && !general.Lparen.IsValid() {
				c.doc = c.block
			}
			if selector, ok := value.Type.(*ast.SelectorExpr); ok {
				c.typ = selector.Sel.Name
			}
			found = append(found, c)
		}
	}
	return found
}

func joined(text string) string { return strings.Join(strings.Fields(text), " ") }
