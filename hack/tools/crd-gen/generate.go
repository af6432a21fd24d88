/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// generate returns the CRDs of the kinds in the packages that match the pattern, sorted by group and kind. The error
// holds everything that was found wrong, with the position in the source where there is one.
func generate(root, pattern string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	roots, err := loader.LoadRootsWithConfig(&packages.Config{Dir: root}, pattern)
	if err != nil {
		return nil, fmt.Errorf("loading %s in %s: %w", pattern, root, err)
	}
	metav1 := crd.FindMetav1(roots)
	if metav1 == nil {
		return nil, fmt.Errorf("no package of %s in %s imports %s, so none holds a kind", pattern, root, "k8s.io/apimachinery/pkg/apis/meta/v1")
	}

	registry := &markers.Registry{}
	if err := errors.Join(crdmarkers.Register(registry), registry.Register(duckMarker)); err != nil {
		return nil, fmt.Errorf("registering the markers: %w", err)
	}
	parser := &crd.Parser{
		Collector: &markers.Collector{Registry: registry},
		Checker:   &loader.TypeChecker{NodeFilters: []loader.NodeFilter{crd.Generator{}.CheckFilter()}},
	}
	crd.AddKnownTypes(parser)
	schemas, err := foreignSchemas()
	if err != nil {
		return nil, err
	}
	foreign := overrideForeignTypes(parser, schemas)
	for _, root := range roots {
		parser.NeedPackage(root)
	}

	var crds []*apiextensionsv1.CustomResourceDefinition
	ducks := duckGroups(parser)
	for _, kind := range crd.FindKubeKinds(parser, metav1) {
		if ducks[kind.Group] {
			continue
		}
		parser.NeedCRDFor(kind, nil)
		generated := parser.CustomResourceDefinitions[kind]
		crd.FixTopLevelMetadata(generated)
		crds = append(crds, &generated)
	}
	return crds, errors.Join(packageErrors(roots), foreignTypesInUse(parser, roots, foreign))
}

// duckMarker is the marker of injection-gen on a duck type.
var duckMarker = markers.Must(markers.MakeDefinition("genduck", markers.DescribesType, struct{}{}))

// duckGroups are the API groups of duck types. What looks like a kind there is the skeleton of other groups' kinds.
func duckGroups(parser *crd.Parser) map[string]bool {
	groups := make(map[string]bool)
	for ident, info := range parser.Types {
		if info.Markers.Get(duckMarker.Name) != nil {
			groups[parser.GroupVersions[ident.Package].Group] = true
		}
	}
	return groups
}

// packageErrors collects what the loader and the parser hung on the packages instead of returning it. Type errors are
// left out: the generated deep copies may be missing, and what the compiler says of the rest is better.
func packageErrors(roots []*loader.Package) error {
	var errs []error
	packages.Visit(underlying(roots), nil, func(pkg *packages.Package) {
		for _, err := range pkg.Errors {
			if err.Kind != packages.TypeError {
				errs = append(errs, err)
			}
		}
	})
	return errors.Join(errs...)
}

func underlying(roots []*loader.Package) []*packages.Package {
	pkgs := make([]*packages.Package, 0, len(roots))
	for _, root := range roots {
		pkgs = append(pkgs, root.Package)
	}
	return pkgs
}

// foreignTypesInUse reports types of other modules that got into a schema with the text and the bounds of their own
// declaration, which was not written for our kinds.
func foreignTypesInUse(parser *crd.Parser, roots []*loader.Package, known map[crd.TypeIdent]bool) error {
	own := make(map[string]bool, len(roots))
	for _, root := range roots {
		own[root.PkgPath] = true
	}
	var unknown []string
	for ident := range parser.Schemata {
		if !own[ident.Package.PkgPath] && !known[ident] {
			unknown = append(unknown, ident.Package.PkgPath+"."+ident.Name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("these types of other modules need a schema in foreign.yaml before a kind can use them: %s",
		strings.Join(sorted(unknown), ", "))
}
