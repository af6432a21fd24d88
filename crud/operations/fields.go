/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package operations

import (
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/internal/closest"
)

// fieldType is a field of an object in a file.
type fieldType struct {
	name    string
	aliases []string
	decode  func(*decoder, field)
}

// operationFields are the fields of an operation.
var operationFields = []fieldType{
	{"operationType", []string{"operation"}, (*decoder).operationType},
	{"apiVersion", nil, text(func(d *decoder) *string { return &d.op.APIVersion })},
	{"kind", nil, text(func(d *decoder) *string { return &d.op.Kind })},
	{"namespace", nil, text(func(d *decoder) *string { return &d.op.Namespace })},
	{"name", nil, text(func(d *decoder) *string { return &d.op.Name })},
	{"spec", []string{"object", "jqFilter", "mergePatch", "jsonPatch"}, func(d *decoder, f field) { d.spec = &f }},
	{"statusPatch", nil, boolean(func(d *decoder) *bool { return &d.op.StatusPatch })},
	{"subresource", nil, (*decoder).subresource},
	{"preconditions", nil, (*decoder).preconditions},
	{"ignoreMissing", []string{"ignoreMissingObject"}, boolean(func(d *decoder) *bool { return &d.op.IgnoreMissing })},
	{"ignoreMissingPaths", nil, boolean(func(d *decoder) *bool { return &d.op.IgnoreMissingPaths })},
	{"ignoreUnknownKind", nil, boolean(func(d *decoder) *bool { return &d.op.IgnoreUnknownKind })},
	{"applyOnHookError", []string{"ignoreHookError"}, boolean(func(d *decoder) *bool { return &d.onHookError })},
	{"strategy", nil, choice(func(d *decoder) *crud.Strategy { return &d.op.Strategy }, crud.Merge, crud.Apply)},
	{"onTerminating", nil, choice(func(d *decoder) *crud.OnTerminating { return &d.op.OnTerminating },
		crud.Requeue, crud.WaitUntilGone, crud.PatchTerminating)},
	{"onImmutable", nil, choice(func(d *decoder) *crud.OnImmutable { return &d.op.OnImmutable }, crud.FailImmutable, crud.Recreate)},
	{"ownedBy", nil, text(func(d *decoder) *types.UID { return &d.op.OwnedBy })},
	{"wait", nil, (*decoder).wait},
}

// preconditionFields are the fields of preconditions.
var preconditionFields = []fieldType{
	{"uid", nil, func(d *decoder, f field) { d.op.Preconditions.UID = new(types.UID(d.text(f))) }},
	{"resourceVersion", nil, func(d *decoder, f field) { d.op.Preconditions.ResourceVersion = new(d.text(f)) }},
}

// headerFields are the fields of a header, which has nothing but file, and fileFields those of file.
var (
	headerFields = []fieldType{{"file", nil, func(d *decoder, f field) { d.object(f, fileFields) }}}
	fileFields   = []fieldType{
		{"onFailure", nil, func(d *decoder, f field) { d.file.Continue = d.choice(f, "stop", "continue") == "continue" }},
		{"dryRun", nil, boolean(func(d *decoder) *bool { return &d.file.DryRun })},
		{"preflight", nil, func(d *decoder, f field) { d.file.SkipPreflight = d.choice(f, "full", "static", "off") != "full" }},
	}
)

func text[T ~string](target func(*decoder) *T) func(*decoder, field) {
	return func(d *decoder, f field) { *target(d) = T(d.text(f)) }
}

func boolean(target func(*decoder) *bool) func(*decoder, field) {
	return func(d *decoder, f field) { *target(d) = d.boolean(f) }
}

func choice[T ~string](target func(*decoder) *T, values ...T) func(*decoder, field) {
	names := make([]string, len(values))
	for i, value := range values {
		names[i] = string(value)
	}
	return func(d *decoder, f field) { *target(d) = T(d.choice(f, names...)) }
}

// decodeFields decodes the fields of an object, and returns them by the names that are no aliases.
func (d *decoder) decodeFields(fields []field, fieldTypes []fieldType) map[string]field {
	set := map[string]field{}
	for _, f := range fields {
		i := slices.IndexFunc(fieldTypes, func(t fieldType) bool { return t.name == f.name || slices.Contains(t.aliases, f.name) })
		if i < 0 {
			d.addf(f.position, "field %s does not exist: %s", f.name, advice(f.name, names(fieldTypes)))
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

// object decodes the fields of an object.
func (d *decoder) object(f field, fieldTypes []fieldType) {
	if f.value.kind != object {
		d.addf(f.value.position, "%s must be an object, not %s", f.name, f.value.describe())
	}
	d.decodeFields(f.value.fields, fieldTypes)
}

func (d *decoder) text(f field) string {
	text, ok := f.value.scalar.(string)
	if !ok {
		d.addf(f.value.position, "%s must be a string, not %s", f.name, f.value.describe())
	}
	return text
}

func (d *decoder) boolean(f field) bool {
	is, ok := f.value.scalar.(bool)
	if !ok {
		d.addf(f.value.position, "%s must be true or false, not %s", f.name, f.value.describe())
	}
	return is
}

func (d *decoder) choice(f field, values ...string) string {
	text := d.text(f)
	if _, isText := f.value.scalar.(string); isText && !slices.Contains(values, text) {
		d.addf(f.value.position, "%s must be %s, not %q", f.name, strings.TrimPrefix(strings.Join(values, " or "), " or "), text)
	}
	return text
}

func (d *decoder) operationType(f field) {
	text := d.text(f)
	d.op.Type = typeNames[text]
	if _, isText := f.value.scalar.(string); isText && d.op.Type == "" {
		d.addf(f.value.position, "operation %q does not exist: %s", text, advice(text, slices.Sorted(maps.Keys(typeNames))))
	}
}

func (d *decoder) subresource(f field) {
	if d.choice(f, "", "status", "/status") != "" {
		d.op.StatusPatch = true
	}
}

func (d *decoder) preconditions(f field) { d.object(f, preconditionFields) }

func (d *decoder) wait(f field) {
	wait, err := time.ParseDuration(d.text(f))
	if err != nil || wait < 0 {
		d.addf(f.value.position, "wait must be a duration with its unit such as 30s, and not negative")
	}
	d.op.Wait = wait
}

// names are all names of fields.
func names(fieldTypes []fieldType) []string {
	var names []string
	for _, t := range fieldTypes {
		names = append(append(names, t.name), t.aliases...)
	}
	return names
}

// advice says which name was probably meant, or all that there are.
func advice(mistyped string, names []string) string {
	if name := closest.To(mistyped, slices.Values(names)); name != "" {
		return "did you mean " + name + "?"
	}
	return "use " + strings.Join(names, ", ")
}
