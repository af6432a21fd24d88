/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"github.com/mallard-dev/mallard/conversion"

	v1storage "example.com/customresourcedefinition/v1/storage"
)

// versions are the versions of a definition in v1beta1, with what is for all of them.
type versions struct {
	Name             *string                           `json:"name,omitempty"`
	Each             []CustomResourceDefinitionVersion `json:"each"`
	Schema           *CustomResourceValidation         `json:"schema,omitempty"`
	Subresources     *CustomResourceSubresources       `json:"subresources,omitempty"`
	Columns          []CustomResourceColumnDefinition  `json:"columns"`
	SelectableFields []SelectableField                 `json:"selectableFields"`
}

// AssignPropertiesTo gives each version what is for all of them.
func (in *CustomResourceDefinitionSpec) AssignPropertiesTo(dst *v1storage.CustomResourceDefinitionSpec) error {
	if in.Versions != nil {
		dst.Versions = []v1storage.CustomResourceDefinitionVersion{}
	}
	all := &versions{Name: in.Version, Schema: in.Validation, Subresources: in.Subresources, Columns: in.AdditionalPrinterColumns, SelectableFields: in.SelectableFields}
	if len(in.Versions) == 0 && conversion.IsZero(all) {
		return nil
	}
	all.Each = in.Versions
	var each []CustomResourceDefinitionVersion
	if err := conversion.Derive(&dst.PropertyBag, bagV1Versions, bagV1beta1Versions, all, &each, divided, joined); err != nil {
		return err
	}
	for i := range each {
		var version v1storage.CustomResourceDefinitionVersion
		if err := each[i].AssignProperties_To_CustomResourceDefinitionVersion(&version); err != nil {
			return err
		}
		dst.Versions = append(dst.Versions, version)
	}
	return nil
}

// AssignPropertiesFrom shows what all versions have once.
func (in *CustomResourceDefinitionSpec) AssignPropertiesFrom(src *v1storage.CustomResourceDefinitionSpec) error {
	var each []CustomResourceDefinitionVersion
	for i := range src.Versions {
		var version CustomResourceDefinitionVersion
		if err := version.AssignProperties_From_CustomResourceDefinitionVersion(&src.Versions[i]); err != nil {
			return err
		}
		each = append(each, version)
	}
	if src.Versions != nil && len(src.Versions) == 0 {
		in.Versions = []CustomResourceDefinitionVersion{}
	}
	var all *versions
	if err := conversion.Derive(&in.PropertyBag, bagV1beta1Versions, bagV1Versions, each, &all, joined, divided); err != nil || all == nil {
		return err
	}
	in.Version, in.Versions = all.Name, all.Each
	in.Validation, in.Subresources, in.AdditionalPrinterColumns, in.SelectableFields = all.Schema, all.Subresources, all.Columns, all.SelectableFields
	return nil
}

func divided(all *versions) []CustomResourceDefinitionVersion {
	var each []CustomResourceDefinitionVersion
	for i := range all.Each {
		each = append(each, *all.Each[i].DeepCopy())
	}
	if len(each) == 0 && all.Name != nil {
		each = []CustomResourceDefinitionVersion{{Name: new(*all.Name), Served: new(true), Storage: new(true)}}
	}
	common := CustomResourceDefinitionVersion{
		Schema: all.Schema, Subresources: all.Subresources, AdditionalPrinterColumns: all.Columns, SelectableFields: all.SelectableFields,
	}
	for i := range each {
		own := common.DeepCopy()
		if own.Schema != nil {
			each[i].Schema = own.Schema
		}
		if own.Subresources != nil {
			each[i].Subresources = own.Subresources
		}
		if own.AdditionalPrinterColumns != nil {
			each[i].AdditionalPrinterColumns = own.AdditionalPrinterColumns
		}
		if own.SelectableFields != nil {
			each[i].SelectableFields = own.SelectableFields
		}
	}
	return each
}

func joined(each []CustomResourceDefinitionVersion) *versions {
	if len(each) == 0 {
		return nil
	}
	all := &versions{Each: make([]CustomResourceDefinitionVersion, len(each))}
	for i := range each {
		each[i].DeepCopyInto(&all.Each[i])
	}
	first := each[0].DeepCopy()
	all.Name = first.Name
	if same(each, func(v *CustomResourceDefinitionVersion) any { return v.Schema }) {
		all.Schema = first.Schema
	}
	if same(each, func(v *CustomResourceDefinitionVersion) any { return v.Subresources }) {
		all.Subresources = first.Subresources
	}
	if same(each, func(v *CustomResourceDefinitionVersion) any { return v.AdditionalPrinterColumns }) {
		all.Columns = first.AdditionalPrinterColumns
	}
	if same(each, func(v *CustomResourceDefinitionVersion) any { return v.SelectableFields }) {
		all.SelectableFields = first.SelectableFields
	}
	for i := range all.Each {
		if all.Schema != nil {
			all.Each[i].Schema = nil
		}
		if all.Subresources != nil {
			all.Each[i].Subresources = nil
		}
		if all.Columns != nil {
			all.Each[i].AdditionalPrinterColumns = nil
		}
		if all.SelectableFields != nil {
			all.Each[i].SelectableFields = nil
		}
	}
	return all
}

// same reports whether a part of all versions is the same.
func same(each []CustomResourceDefinitionVersion, part func(*CustomResourceDefinitionVersion) any) bool {
	for i := range each {
		if equal, err := conversion.Equal(part(&each[0]), part(&each[i])); err != nil || !equal {
			return false
		}
	}
	return true
}
