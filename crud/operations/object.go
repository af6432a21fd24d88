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

	"github.com/mallard-dev/mallard/crud/internal/closest"
)

// decodeFields decodes the fields of an object, and returns them by the names that are no aliases.
func (d *decoder) decodeFields(of fields, fieldTypes []fieldType) map[string]field {
	set := map[string]field{}
	for _, f := range slices.SortedFunc(maps.Values(of), func(a, b field) int { return a.compare(b.position) }) {
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

// object decodes the fields of an object.
func (d *decoder) object(f field, fieldTypes []fieldType) {
	inner, isObject := f.value.content.(fields)
	if !isObject {
		d.addf(f.value.position, "%s must be an object, not %s", f.name, f.value.describe())
	}
	d.decodeFields(inner, fieldTypes)
}

func (d *decoder) text(f field) string {
	text, ok := f.value.content.(string)
	if !ok {
		d.addf(f.value.position, "%s must be a string, not %s", f.name, f.value.describe())
	}
	return text
}

func (d *decoder) boolean(f field) bool {
	is, ok := f.value.content.(bool)
	if !ok {
		d.addf(f.value.position, "%s must be true or false, not %s", f.name, f.value.describe())
	}
	return is
}

func (d *decoder) integer(f field) *int64 {
	integer, ok := f.value.content.(int64)
	if !ok {
		d.addf(f.value.position, "%s must be an integer, not %s", f.name, f.value.describe())
	}
	return &integer
}

func (d *decoder) choice(f field, values ...string) string {
	if f.value.content == false && slices.Contains(values, "off") {
		return "off" // which is a boolean in YAML
	}
	text := d.text(f)
	if _, isText := f.value.content.(string); isText && !slices.Contains(values, text) {
		d.addf(f.value.position, "%s must be %s, not %q", f.name, strings.TrimPrefix(strings.Join(values, " or "), " or "), text)
	}
	return text
}

func (d *decoder) operationType(f field) {
	text := d.text(f)
	d.op.Type = typeNames[text]
	if _, isText := f.value.content.(string); isText && d.op.Type == "" {
		d.addf(f.value.position, "operation %q does not exist: %s", text, closest.Advice(text, allTypeNames()))
	}
}

func (d *decoder) subresource(f field) {
	if d.choice(f, "", "status", "/status") != "" {
		d.op.StatusPatch = true
	}
}

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
