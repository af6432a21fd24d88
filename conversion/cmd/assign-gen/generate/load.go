/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generators"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
)

// Load reads packages, named by import paths or folders, through the go command, and returns those of each API. Types that do not check
// are tolerated, because other generated code may be missing yet; files that do not parse are not.
func Load(patterns []string) ([][]*model.Package, error) {
	requested, err := packages.Load(&packages.Config{
		Mode:       packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax,
		BuildFlags: []string{"-tags", generators.BuildTag},
		ParseFile:  parseDeclarations,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("loading packages: %w", err)
	}
	if len(requested) == 0 {
		return nil, fmt.Errorf("there are no packages %q", patterns)
	}
	loaded := make(map[string]*packages.Package)
	var problems []error
	packages.Visit(requested, nil, func(each *packages.Package) {
		loaded[each.PkgPath] = each
		for _, problem := range each.Errors {
			if problem.Kind != packages.TypeError && problem.Kind != packages.UnknownError {
				problems = append(problems, fmt.Errorf("%s: %w", each.PkgPath, problem))
			}
		}
	})
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("loading packages: %w", err)
	}
	return readAPIs(loaded, requested)
}

// parseDeclarations parses a file without the bodies of its functions. Checking these takes half of the time, and they do not matter here.
func parseDeclarations(files *token.FileSet, name string, source []byte) (*ast.File, error) {
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil, err //nolint:wrapcheck // the error names the file
	}
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			function.Body = nil
		}
	}
	return file, err //nolint:wrapcheck // the error names the file
}

// readAPIs reads packages that are loaded, sorted by APIs: the packages in a folder are the versions of one. Types that several APIs use are read
// for each of them, because a plan changes those that versions use of each other.
func readAPIs(loaded map[string]*packages.Package, requested []*packages.Package) ([][]*model.Package, error) {
	versions := make(map[string][]string)
	for _, each := range requested {
		folder := path.Dir(each.PkgPath)
		versions[folder] = append(versions[folder], each.PkgPath)
	}
	var apis [][]*model.Package
	for _, folder := range slices.Sorted(maps.Keys(versions)) {
		slices.Sort(versions[folder])
		read, err := model.Read(loaded, versions[folder])
		if err != nil {
			return nil, fmt.Errorf("reading the types of packages: %w", err)
		}
		apis = append(apis, read)
	}
	return apis, nil
}
