/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/internal/closest"
)

// fieldType is a field of an object in a file. schema.json and docs/reference/operation-files.md describe the fields.
type fieldType struct {
	name    string
	decode  func(*decoder, field)
	aliases []string
}

var operationFields = []fieldType{
	{typeField, (*decoder).operationType, []string{"operation"}},
	{"apiVersion", text(func(d *decoder) *string { return &d.op.APIVersion }), nil},
	{"kind", text(func(d *decoder) *string { return &d.op.Kind }), nil},
	{"namespace", text(func(d *decoder) *string { return &d.op.Namespace }), nil},
	{"name", text(func(d *decoder) *string { return &d.op.Name }), nil},
	{specField, func(d *decoder, f field) { d.spec = &f }, []string{"object", "jqFilter", "mergePatch", "jsonPatch"}},
	{"statusPatch", boolean(func(d *decoder) *bool { return &d.op.StatusPatch }), nil},
	{"subresource", func(d *decoder, f field) {
		d.op.StatusPatch = d.choice(f, "", "status", "/status") != "" || d.op.StatusPatch
	}, nil},
	{"preconditions", func(d *decoder, f field) { d.object(f, preconditionFields) }, nil},
	{"ignoreMissing", boolean(func(d *decoder) *bool { return &d.op.IgnoreMissing }), []string{"ignoreMissingObject"}},
	{"ignoreMissingPaths", boolean(func(d *decoder) *bool { return &d.op.IgnoreMissingPaths }), nil},
	{hookErrorField, boolean(func(d *decoder) *bool { return &d.onHookError }), []string{"ignoreHookError"}},
	{"strategy", text(func(d *decoder) *crud.Strategy { return &d.op.Strategy }), nil},
	{"onImmutable", text(func(d *decoder) *crud.OnImmutable { return &d.op.OnImmutable }), nil},
	{"ownedBy", text(func(d *decoder) *types.UID { return &d.op.OwnedBy }), nil},
	{"gracePeriodSeconds", func(d *decoder, f field) {
		seconds, _ := scalar[int64](d, f, "an integer")
		d.op.GracePeriodSeconds = &seconds
	}, nil},
	{"wait", (*decoder).wait, nil},
}

// Fields that depend on others.
const typeField, specField, hookErrorField = "operationType", "spec", "applyOnHookError"

// headerFields are the fields of a header, which has nothing but file, and fileFields those of file.
var (
	preconditionFields = []fieldType{
		{"uid", func(d *decoder, f field) { d.op.Preconditions.UID = new(types.UID(d.text(f))) }, nil},
		{"resourceVersion", func(d *decoder, f field) { d.op.Preconditions.ResourceVersion = new(d.text(f)) }, nil},
	}
	headerFields = []fieldType{{"file", func(d *decoder, f field) { d.object(f, fileFields) }, nil}}
	fileFields   = []fieldType{
		{"onFailure", func(d *decoder, f field) { d.file.Continue = d.choice(f, "stop", "continue") == "continue" }, nil},
		{"preflight", func(d *decoder, f field) { d.file.SkipPreflight = d.choice(f, "full", "static", "off") != "full" }, nil},
	}
)

func text[T ~string](target func(*decoder) *T) func(*decoder, field) {
	return func(d *decoder, f field) { *target(d) = T(d.text(f)) }
}

func boolean(target func(*decoder) *bool) func(*decoder, field) {
	return func(d *decoder, f field) { *target(d), _ = scalar[bool](d, f, "true or false") }
}

// decodeFields decodes the fields of an object, and returns them by the names that are no aliases.
func (d *decoder) decodeFields(of fields, fieldTypes []fieldType) map[string]field {
	set := map[string]field{}
	for _, f := range slices.SortedFunc(maps.Values(of), func(a, b field) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column)) }) {
		i := slices.IndexFunc(fieldTypes, func(t fieldType) bool { return t.name == f.name || slices.Contains(t.aliases, f.name) })
		if i < 0 {
			d.addf(f.position, "field %s does not exist: %s", f.name, closest.Advice(f.name, names(fieldTypes)))
			continue
		}
		if before, ok := set[fieldTypes[i].name]; ok {
			d.addf(f.position, "%s is set already at %d:%d", f.name, before.line, before.column)
			continue
		}
		set[fieldTypes[i].name] = f
		fieldTypes[i].decode(d, f)
	}
	return set
}

func (d *decoder) object(f field, fieldTypes []fieldType) {
	of, _ := scalar[fields](d, f, "an object")
	d.decodeFields(of, fieldTypes)
}

// scalar decodes a value of a type.
func scalar[T any](d *decoder, f field, what string) (T, bool) {
	content, ok := f.value.content.(T)
	if !ok {
		d.addf(f.value.position, "%s must be %s, not %s", f.name, what, f.value.describe())
	}
	return content, ok
}

func (d *decoder) text(f field) string {
	text, _ := scalar[string](d, f, "a string")
	return text
}

func (d *decoder) choice(f field, values ...string) string {
	if f.value.content == false && slices.Contains(values, "off") {
		return "off" // which is a boolean in YAML
	}
	text, isText := scalar[string](d, f, "a string")
	if isText && !slices.Contains(values, text) {
		d.addf(f.value.position, "%s must be %s, not %q", f.name, strings.TrimPrefix(strings.Join(values, " or "), " or "), text)
	}
	return text
}

func (d *decoder) operationType(f field) {
	text, isText := scalar[string](d, f, "a string")
	if d.op.Type = typeNames[text]; isText && d.op.Type == "" {
		d.addf(f.value.position, "operation %q does not exist: %s", text, closest.Advice(text, allTypeNames()))
	}
}

func (d *decoder) wait(f field) {
	wait, err := time.ParseDuration(d.text(f))
	if err != nil || wait < 0 {
		d.addf(f.value.position, "wait must be a duration with its unit such as 30s, and not negative")
	}
	d.op.Wait = wait
}

func names(fieldTypes []fieldType) []string {
	var names []string
	for _, t := range fieldTypes {
		names = append(append(names, t.name), t.aliases...)
	}
	return names
}
