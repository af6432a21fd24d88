/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion"
	"knative.dev/pkg/apis"

	v1beta3storage "example.com/eventtype/v1beta3/storage"
)

// AssignPropertiesTo sets the attributes that v1beta2 has fields for, and keeps the rest.
func (in *EventTypeSpec) AssignPropertiesTo(dst *v1beta3storage.EventTypeSpec) error {
	s := shown{conversion.Pointer(in.Type), in.Source, in.Schema}
	dst.PropertyBag.Take(bagV1beta3Attributes, &dst.Attributes)
	dst.Attributes = s.update(dst.Attributes)
	if complete, err := conversion.Equal(show(dst.Attributes), s); complete || err != nil {
		return err
	}
	return dst.PropertyBag.PutDerived(bagV1beta2Type, s, dst.Attributes)
}

// AssignPropertiesFrom shows the attributes that v1beta2 has fields for, and keeps all of them if these fields do not show everything.
func (in *EventTypeSpec) AssignPropertiesFrom(src *v1beta3storage.EventTypeSpec) error {
	var s shown
	isShown := in.PropertyBag.TakeDerived(bagV1beta2Type, src.Attributes, &s) == conversion.Exact
	if isShown {
		// A client may have written the annotation, with values that contradict the attributes.
		var err error
		if isShown, err = conversion.Equal(s.update(slices.Clone(src.Attributes)), src.Attributes); err != nil {
			return err
		}
	}
	if !isShown {
		s = show(src.Attributes)
	}
	in.Type, in.Source, in.Schema = s.Type, s.Source, s.Schema
	if complete, err := conversion.Equal(s.update(nil), src.Attributes); complete || err != nil {
		return err
	}
	return in.PropertyBag.Put(bagV1beta3Attributes, src.Attributes)
}

// shown are the CloudEvents attributes that v1beta2 has fields for. Attributes without a value are empty.
type shown struct {
	Type           *string
	Source, Schema *apis.URL
}

func show(all []v1beta3storage.EventAttributeDefinition) shown {
	s := shown{value(all, "type"), address(value(all, "source")), address(value(all, "schemadata"))}
	if s.Type == nil {
		s.Type = new("") // v1beta2 cannot be without
	}
	return s
}

// update sets the attributes whose values are others than those that are shown. It removes each attribute of a name that has no value.
func (s shown) update(all []v1beta3storage.EventAttributeDefinition) []v1beta3storage.EventAttributeDefinition {
	before := show(all)
	all = set(all, "type", true, before.Type, s.Type)
	all = set(all, "source", true, text(before.Source), text(s.Source))
	return set(all, "schemadata", false, text(before.Schema), text(s.Schema))
}

func set(all []v1beta3storage.EventAttributeDefinition, name string, required bool, before, after *string) []v1beta3storage.EventAttributeDefinition {
	at := index(all, name)
	switch {
	case same(before, after), at < 0 && after == nil:
	case after == nil:
		all = slices.DeleteFunc(all, func(each v1beta3storage.EventAttributeDefinition) bool { return same(each.Name, &name) })
	case at >= 0:
		all[at].Value = after
	default:
		all = append(all, v1beta3storage.EventAttributeDefinition{Name: &name, Required: &required, Value: after})
	}
	return all
}

// index is the place of the last attribute of a name, or negative.
func index(all []v1beta3storage.EventAttributeDefinition, name string) int {
	at := len(all) - 1
	for at >= 0 && !same(all[at].Name, &name) {
		at--
	}
	return at
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func value(all []v1beta3storage.EventAttributeDefinition, name string) *string {
	at := index(all, name)
	switch {
	case at < 0:
		return nil
	case all[at].Value == nil:
		return new("")
	default:
		return new(*all[at].Value)
	}
}

// address is a URL, or nil for other texts.
func address(text *string) *apis.URL {
	if text == nil {
		return nil
	}
	parsed, err := apis.ParseURL(*text)
	if err != nil {
		return nil
	}
	return parsed
}

func text(url *apis.URL) *string {
	if url == nil {
		return nil
	}
	return new(url.String())
}
