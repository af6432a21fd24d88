/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/model"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/problem"
)

// stashable reports a field that must not, or cannot, be kept in the bag. The marker is the one that decides about the field.
func (p *planner) stashable(field *Field, marker string) {
	label, t := field.label(), field.API.Type
	if secret := sensitiveIn(field); secret != nil {
		text := "the field is sensitive, and only one version has it, so it would be kept in the annotation"
		if secret != field {
			text = "the field holds " + secret.label() + ", which is sensitive and would be kept in the annotation"
		}
		p.problem(problem.SensitiveStash, label, text,
			"add it to the other version, or leave it to a hook ("+marker+"=augment), or drop it ("+marker+"=drop,reason=TEXT)")
	}
	p.survivesJSON(label, t, field.Struct.Version, marker)
}

// survivesJSON reports a type of which JSON leaves something out.
func (p *planner) survivesJSON(label string, t *model.Type, version *Version, marker string) {
	if part := notInJSON(t, version.Package.Path, make(map[*model.Type]bool)); part != "" {
		p.problem(problem.UnsupportedType, label+" ("+t.String()+")",
			"only one version has the field, so it is kept as JSON, and "+part+" does not survive that",
			"use another type, or leave it to a hook ("+marker+"=augment)")
	}
}

// sensitiveIn finds a sensitive field in what a field holds.
func sensitiveIn(field *Field) *Field {
	if field.Settings.Sensitive {
		return field
	}
	version := field.Struct.Version
	for held := range within(field.API.Type, version.Package.Path) {
		inner := version.Struct(held.Name)
		if inner == nil { // it is marked +conversion:skip, which is reported
			continue
		}
		if secret := model.Find(inner.Fields, func(f *Field) bool { return f.Settings.Sensitive }); secret != nil {
			return secret
		}
	}
	return nil
}

// notInJSON finds a part of a type that JSON leaves out. Own structs are looked at field by field elsewhere.
func notInJSON(t *model.Type, pkg string, seen map[*model.Type]bool) string {
	if t.Elem != nil {
		return notInJSON(t.Elem, pkg, seen)
	}
	if t.Kind != model.Named || seen[t] || t.Has("MarshalJSON") {
		return ""
	}
	seen[t] = true
	base := t.Base()
	if base.Kind != model.Struct {
		return notInJSON(base, pkg, seen)
	}
	for _, field := range base.Fields {
		if isOwn(t, pkg) {
			continue
		}
		if !field.Exported() || field.JSON == "-" {
			return t.String() + "." + field.Name
		}
		if part := notInJSON(field.Type, pkg, seen); part != "" {
			return part
		}
	}
	return ""
}
