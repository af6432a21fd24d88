/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/version"
)

type schema = apiextensionsv1.JSONSchemaProps

// field is a row of a table of fields: the cells from the type on, and the versions that have it so.
type field struct {
	path     string
	cells    [5]string
	versions []string
}

// part is the spec or the status of a kind, with the rows of its fields.
type part struct {
	Title string
	Rows  [][]string
}

// fieldsPage returns the page of the fields of a kind.
func fieldsPage(root string, crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	names := crd.Spec.Names
	var versions []string
	for i := range crd.Spec.Versions {
		versions = append(versions, crd.Spec.Versions[i].Name)
	}
	slices.SortFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	page := struct {
		IsDescribed bool
		Names       apiextensionsv1.CustomResourceDefinitionNames
		Versions    []string
		Rows        [][]string
		Parts       []part
	}{
		IsDescribed: isDescribed(root), Names: names, Versions: versions,
		Rows: [][]string{{code(crd.Spec.Group), codes(versions), code(names.Plural), codes(names.ShortNames), string(crd.Spec.Scope)}},
	}
	for _, title := range []string{"Spec", "Status"} {
		if rows := rowsOf(crd, versions, strings.ToLower(title)); len(rows) > 0 {
			page.Parts = append(page.Parts, part{title, rows})
		}
	}
	return render("fields.md", page)
}

// rowsOf returns the rows of the fields below a field of a kind.
func rowsOf(crd *apiextensionsv1.CustomResourceDefinition, versions []string, name string) [][]string {
	var fields []field
	for _, version := range versions {
		for _, v := range crd.Spec.Versions {
			if v.Name == version && v.Schema != nil {
				object := v.Schema.OpenAPIV3Schema
				if s, ok := object.Properties[name]; ok {
					fields = merge(fields, collect(name, &s, slices.Contains(object.Required, name)), version)
				}
			}
		}
	}
	var rows [][]string
	for _, f := range fields {
		in := ""
		if len(f.versions) < len(versions) {
			in = strings.Join(f.versions, ", ")
		}
		rows = append(rows, append([]string{code(f.path), in}, f.cells[:]...))
	}
	return rows
}

// merge adds the fields of a version. A field that is the same at an earlier version gets the version, too.
func merge(fields, of []field, name string) []field {
	for _, f := range of {
		same := func(g field) bool { return g.path == f.path && g.cells == f.cells }
		if i := slices.IndexFunc(fields, same); i >= 0 {
			fields[i].versions = append(fields[i].versions, name)
		} else {
			f.versions = []string{name}
			fields = append(fields, f)
		}
	}
	slices.SortStableFunc(fields, func(a, b field) int { return slices.Compare(strings.Split(a.path, "."), strings.Split(b.path, ".")) })
	return fields
}

// collect returns the fields of a schema, each before those that it contains.
func collect(path string, s *schema, required bool) []field {
	f := field{path: path, cells: [5]string{typeOf(s), "", "", strings.Join(bounds(s), "; "), s.Description}}
	if required {
		f.cells[1] = "yes"
	}
	if s.Default != nil {
		f.cells[2] = code(string(s.Default.Raw))
	}
	fields := []field{f}
	inner := s
	for inner.Items != nil {
		path, inner = path+"[]", inner.Items.Schema
	}
	for _, name := range slices.Sorted(maps.Keys(inner.Properties)) {
		property := inner.Properties[name]
		fields = append(fields, collect(path+"."+name, &property, slices.Contains(inner.Required, name))...)
	}
	return fields
}

func typeOf(s *schema) string {
	switch {
	case s.Items != nil:
		return "list of " + typeOf(s.Items.Schema) + "s"
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(s.AdditionalProperties.Schema) + "s"
	default:
		return cmp.Or(s.Type, "any")
	}
}

// bounds returns the rules that the values of a field have to follow.
func bounds(s *schema) []string {
	var rules []string
	add := func(format string, args ...any) { rules = append(rules, fmt.Sprintf(format, args...)) }
	limits(add, s.MinLength, s.MaxLength, "character", "characters")
	limits(add, s.MinItems, s.MaxItems, "item", "items")
	limits(add, s.MinProperties, s.MaxProperties, "entry", "entries")
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		add("%v to %v", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		add("at least %v", *s.Minimum)
	case s.Maximum != nil:
		add("at most %v", *s.Maximum)
	}
	var values []string
	for _, value := range s.Enum {
		values = append(values, string(value.Raw))
	}
	if len(values) > 0 {
		add("one of %s", codes(values))
	}
	if s.Format != "" {
		add("format `%s`", s.Format)
	}
	if s.Pattern != "" {
		add("matches `%s`", s.Pattern)
	}
	if len(s.XListMapKeys) > 0 {
		add("unique by %s", codes(s.XListMapKeys))
	}
	for _, rule := range s.XValidations {
		add("%s", cmp.Or(rule.Message, code(rule.Rule)))
	}
	if s.Items != nil {
		for _, rule := range bounds(s.Items.Schema) {
			add("each: %s", rule)
		}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		for _, rule := range bounds(s.AdditionalProperties.Schema) {
			add("each value: %s", rule)
		}
	}
	return rules
}

func limits(add func(string, ...any), least, most *int64, one, many string) {
	count := func(n int64) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprint(n, " ", many)
	}
	switch {
	case least != nil && most != nil:
		add("%d to %s", *least, count(*most))
	case least != nil:
		add("at least %s", count(*least))
	case most != nil:
		add("at most %s", count(*most))
	}
}
