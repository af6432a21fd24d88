/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	_ "embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/yaml"
)

type (
	schema     = apiextensionsv1.JSONSchemaProps
	properties = map[string]schema
)

//go:embed foreign.yaml
var foreignYAML []byte

// foreignSchemas returns the schemas of types that other modules declare, by import path and type name.
func foreignSchemas() (map[string]map[string]schema, error) {
	var schemas map[string]map[string]schema
	if err := yaml.Unmarshal(foreignYAML, &schemas, yaml.DisallowUnknownFields); err != nil {
		return nil, fmt.Errorf("reading foreign.yaml: %w", err)
	}
	return schemas, nil
}

// overrideForeignTypes makes the parser use the schemas, and what controller-tools itself knows of other modules' types, in
// place of their declarations. The set that it returns holds these types once the parser has met them.
func overrideForeignTypes(parser *crd.Parser, schemas map[string]map[string]schema) map[crd.TypeIdent]bool {
	known := make(map[crd.TypeIdent]bool)
	for path := range schemas {
		if _, ok := parser.PackageOverrides[path]; !ok {
			parser.PackageOverrides[path] = func(p *crd.Parser, pkg *loader.Package) { p.AddPackage(pkg) }
		}
	}
	for path, standard := range parser.PackageOverrides {
		parser.PackageOverrides[path] = func(p *crd.Parser, pkg *loader.Package) {
			standard(p, pkg)
			for name, schema := range schemas[path] {
				p.Schemata[crd.TypeIdent{Package: pkg, Name: name}] = *schema.DeepCopy()
			}
			for ident := range p.Schemata {
				if ident.Package == pkg {
					known[ident] = true
				}
			}
		}
	}
	return known
}
