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
	"maps"
	"path"
	"slices"
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
	// Skip marks the kind as one of a single version.
	Skip bool
	// SampleFile is the path of the sample.
	SampleFile string
	// page is the path of the kind's page, and lives whether the suite of permissions has a life for each kind.
	page  string
	lives bool
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

// SampleName is the name of the sample.
func (m *model) SampleName() string { return "hello" }

// ChildName is the name of the sample's child.
func (m *model) ChildName() string { return m.SampleName() + "-" + m.Lower() }

// VersionImport is the import of the types.
func (m *model) VersionImport() string {
	return m.Module + "/pkg/apis/" + m.API + "/" + m.Version + " " + m.Version
}

// files returns the contents of the kind's files by their paths.
func (m *model) files() (map[string]string, error) {
	lower := m.Lower()
	types, reconciler, suite := "pkg/apis/"+m.API+"/"+m.Version+"/"+lower, "pkg/reconciler/"+lower+"/", "test/"+lower+"/"
	paths := map[string]string{
		"version/types.go":              types + "_types.go",
		"version/defaults.go":           types + "_defaults.go",
		"version/defaults_test.go":      types + "_defaults_test.go",
		"version/validation.go":         types + "_validation.go",
		"version/validation_test.go":    types + "_validation_test.go",
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
	if m.page != "" {
		paths["files/page.md"] = m.page
	}
	if m.lives {
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

func (m *model) render(name string) (string, error) {
	functions := template.FuncMap{"imports": m.imports, "own": m.own}
	file := name + ".tmpl"
	parsed, err := template.New(path.Base(file)).Funcs(functions).ParseFS(templates, "templates/"+file)
	if err != nil {
		return "", fmt.Errorf("parsing template %s: %w", file, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, m); err != nil {
		return "", fmt.Errorf("executing template %s: %w", file, err)
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

// own returns the import of a package of this module.
func (m *model) own(pkg string, alias ...string) string {
	return strings.Join(append([]string{m.Module + "/" + pkg}, alias...), " ")
}

// group returns the group of an import, from 0, in the order of .golangci.yaml: the standard library, other modules, Knative's, and the operator's.
func (m *model) group(pkg string) int {
	first, _, _ := strings.Cut(pkg, "/") // a path without a slash is its own first part
	switch {
	case strings.HasPrefix(pkg, m.Module+"/") || strings.HasPrefix(pkg, m.Environment+"/"):
		return 3
	case first == "knative.dev":
		return 2
	case strings.Contains(first, "."):
		return 1
	default:
		return 0
	}
}

// imports returns an import declaration of packages, each a path that may be followed by an alias.
func (m *model) imports(packages ...string) string {
	groups := make([]map[string]string, 4)
	for _, entry := range packages {
		pkg, alias, _ := strings.Cut(entry, " ")
		group := m.group(pkg)
		if alias == path.Base(pkg) && alias != "v1" {
			alias = ""
		}
		if groups[group] == nil {
			groups[group] = map[string]string{}
		}
		groups[group][pkg] = alias
	}
	var out strings.Builder
	out.WriteString("import (")
	for _, group := range groups {
		for _, pkg := range slices.Sorted(maps.Keys(group)) {
			fmt.Fprintf(&out, "\n%s %q", group[pkg], pkg)
		}
		if len(group) > 0 {
			out.WriteString("\n")
		}
	}
	out.WriteString(")")
	return out.String()
}
