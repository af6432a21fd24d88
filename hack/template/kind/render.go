/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"bytes"
	"embed"
	"fmt"
	"go/format"
	"io/fs"
	"strconv"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// model is the data of the templates.
type model struct {
	*project

	Kind, Version string
	Child         child
	// Accessor is the method of the generated clientset.
	Accessor string
	// Cluster marks the kind as cluster-scoped. Its child is in the operator's namespace.
	Cluster bool
	// SampleFile is the path of the sample.
	SampleFile string

	// Hub is the version that is added, Older marks Version as one that is converted to it, and Knative is the package for conversions in webhooks.
	// Defaulted and Ruled report whether the kind has defaults and validation.
	Hub, Knative            string
	Older, Defaulted, Ruled bool
}

// Lower is the kind in lower case, which names files and packages.
func (m *model) Lower() string { return strings.ToLower(m.Kind) }

// Kinds is the plural of the kind.
func (m *model) Kinds() string { return pluralOf(m.Kind) }

// Plural is the name of the resource.
func (m *model) Plural() string { return strings.ToLower(m.Kinds()) }

// Var is the kind as the beginning of a variable's name.
func (m *model) Var() string { return strings.ToLower(m.Kind[:1]) + m.Kind[1:] }

// Field is the field of the spec.
func (m *model) Field() field { return m.Child.Field }

// ChildName is the name of the sample's child.
func (m *model) ChildName() string { return "hello-" + m.Lower() }

// VersionImport is the import of the types.
func (m *model) VersionImport() string { return m.ImportOf(m.Version) }

// ImportOf is the import of a version's types. Packages of Kubernetes are called v1, too.
func (p *project) ImportOf(of string) string {
	spec := strconv.Quote(p.importPath(of))
	if strings.Trim(of, "v0123456789") == "" {
		return of + " " + spec
	}
	return spec
}

// files returns the contents of the kind's files by their paths.
func (m *model) files() (map[string]string, error) {
	lower := m.Lower()
	types, reconciler, suite := "pkg/apis/"+m.API+"/"+m.Version+"/"+lower, "pkg/reconciler/"+lower+"/", "test/"+lower+"/"
	paths := map[string]string{
		"version/types.go":              types + "_types.go",
		"version/lifecycle.go":          types + "_lifecycle.go",
		"version/lifecycle_test.go":     types + "_lifecycle_test.go",
		"reconciler/doc.go":             reconciler + "doc.go",
		"reconciler/controller.go":      reconciler + "controller.go",
		"reconciler/reconciler.go":      reconciler + lower + ".go",
		"reconciler/child.go":           reconciler + "child.go",
		"reconciler/table_test.go":      reconciler + "table_test.go",
		"reconciler/controller_test.go": reconciler + "controller_test.go",
		"files/roles.yaml":              "config/200-" + lower + "-roles.yaml",
		"files/sample.yaml":             m.SampleFile,
		"test/doc.go":                   suite + "doc.go",
		"test/suite_test.go":            suite + lower + "_test.go",
	}
	if m.Child.External {
		delete(paths, "reconciler/child.go")
		for _, name := range []string{"remote.go", "client.go", "client_test.go"} {
			paths["reconciler/"+name] = reconciler + name
		}
		paths["test/service.go"] = suite + "service/service.go"
	}
	if m.exists(index) {
		paths["files/page.md"] = pages + "/" + lower + ".md"
	}
	if m.exists("test/permissions/lives_test.go") {
		paths["test/permissions_test.go"] = "test/permissions/" + lower + "_test.go"
	}
	all := make(map[string]string, len(paths))
	for name, file := range paths {
		content, err := m.render(name)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", file, err)
		}
		all[file] = content
	}
	return all, nil
}

// render executes a template. Those in the folder external replace others.
func (m *model) render(name string) (string, error) {
	if _, err := fs.Stat(templates, "templates/external/"+name+".tmpl"); m.Child.External && err == nil {
		name = "external/" + name
	}
	parsed, err := template.ParseFS(templates, "templates/"+name+".tmpl")
	if err != nil {
		return "", fmt.Errorf("parsing template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, m); err != nil {
		return "", fmt.Errorf("executing template %s: %w", name, err)
	}
	if !strings.HasSuffix(name, ".go") {
		return out.String(), nil
	}
	formatted, err := format.Source(out.Bytes())
	if err != nil {
		return "", fmt.Errorf("%w:\n%s", err, out.String())
	}
	return string(formatted), nil
}
