/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"fmt"

	"github.com/mallard-dev/mallard/conversion"
)

// Between the storage types of v1alpha1 and v1, as in v1alpha1/storage/zz_generated.conversion.go, and the hook of
// v1alpha1/storage/widget_augment.go.

// Keys of what is stashed.
const (
	bagAppProtocol = "v1/appProtocol"
	bagBackoff     = "v1/backoff"
	bagCode        = "v1/code"
	bagOverwrite   = "v1/overwrite"
	bagProbe       = "v1/probe"
	bagRef         = "v1/ref"
	bagTemplate    = "v1alpha1/template"
)

// AssignProperties_To_Widget copies the object to v1.
func (in *oldWidgetStorage) AssignProperties_To_Widget(dst *widgetStorage) error {
	bag := in.PropertyBag.Clone()
	in.ObjectMeta.DeepCopyInto(&dst.ObjectMeta)
	if in.Spec != nil {
		dst.Spec = &widgetSpecStorage{}
		if err := in.Spec.AssignProperties_To_WidgetSpec(dst.Spec); err != nil {
			return err
		}
	}
	dst.PropertyBag = bag.OrNil()
	return nil
}

// AssignProperties_From_Widget fills the object from v1.
func (in *oldWidgetStorage) AssignProperties_From_Widget(src *widgetStorage) error {
	bag := src.PropertyBag.Clone()
	src.ObjectMeta.DeepCopyInto(&in.ObjectMeta)
	if src.Spec != nil {
		in.Spec = &oldWidgetSpecStorage{}
		if err := in.Spec.AssignProperties_From_WidgetSpec(src.Spec); err != nil {
			return err
		}
	}
	in.PropertyBag = bag.OrNil()
	return nil
}

type assignableWidgetSpec interface {
	AssignPropertiesTo(dst *widgetSpecStorage) error
	AssignPropertiesFrom(src *widgetSpecStorage) error
}

var _ assignableWidgetSpec = (*oldWidgetSpecStorage)(nil)

// AssignProperties_To_WidgetSpec copies the struct to v1.
func (in *oldWidgetSpecStorage) AssignProperties_To_WidgetSpec(dst *widgetSpecStorage) error {
	bag := in.PropertyBag.Clone()
	if in.Headers != nil {
		dst.Headers = make(map[string]headerStorage, len(in.Headers))
		for key, value := range in.Headers {
			bag := value.PropertyBag.Clone()
			converted := headerStorage{Value: conversion.Pointer(value.Value)}
			bag.Take(bagOverwrite, &converted.Overwrite)
			converted.PropertyBag = bag.OrNil()
			dst.Headers[key] = converted
		}
	}
	dst.Path = conversion.Pointer(in.Path)
	if in.Ports != nil {
		dst.Ports = make([]portStorage, len(in.Ports))
		for i := range in.Ports {
			bag := in.Ports[i].PropertyBag.Clone()
			dst.Ports[i] = portStorage{Name: conversion.Pointer(in.Ports[i].Name), Port: conversion.Pointer(in.Ports[i].Port)}
			bag.Take(bagAppProtocol, &dst.Ports[i].AppProtocol)
			dst.Ports[i].PropertyBag = bag.OrNil()
		}
	}
	bag.Take(bagProbe, &dst.Probe)
	if in.Retries != nil {
		bag := in.Retries.PropertyBag.Clone()
		dst.Retries = &retriesStorage{Attempts: conversion.Pointer(in.Retries.Attempts)}
		bag.Take(bagBackoff, &dst.Retries.Backoff)
		dst.Retries.PropertyBag = bag.OrNil()
	}
	if in.Rewrites != nil {
		dst.Rewrites = make([]rewriteStorage, len(in.Rewrites))
		for i := range in.Rewrites {
			bag := in.Rewrites[i].PropertyBag.Clone()
			dst.Rewrites[i] = rewriteStorage{From: conversion.Pointer(in.Rewrites[i].From), To: conversion.Pointer(in.Rewrites[i].To)}
			bag.Take(bagCode, &dst.Rewrites[i].Code)
			dst.Rewrites[i].PropertyBag = bag.OrNil()
		}
	}
	if err := bag.Put(bagTemplate, in.Template); err != nil {
		return fmt.Errorf("assigning v1alpha1 WidgetSpec to v1: %w", err)
	}
	dst.PropertyBag = bag.OrNil()

	var self any = in
	if augmented, ok := self.(assignableWidgetSpec); ok {
		if err := augmented.AssignPropertiesTo(dst); err != nil {
			return fmt.Errorf("AssignPropertiesTo of WidgetSpec, v1alpha1→v1: %w", err)
		}
	}
	return nil
}

// AssignProperties_From_WidgetSpec fills the struct from v1.
func (in *oldWidgetSpecStorage) AssignProperties_From_WidgetSpec(src *widgetSpecStorage) error {
	bag := src.PropertyBag.Clone()
	if src.Headers != nil {
		in.Headers = make(map[string]oldHeaderStorage, len(src.Headers))
		for key, value := range src.Headers {
			bag := value.PropertyBag.Clone()
			if err := bag.Put(bagOverwrite, value.Overwrite); err != nil {
				return err
			}
			in.Headers[key] = oldHeaderStorage{Value: conversion.Pointer(value.Value), PropertyBag: bag.OrNil()}
		}
	}
	in.Path = conversion.Pointer(src.Path)
	if src.Ports != nil {
		in.Ports = make([]oldPortStorage, len(src.Ports))
		for i := range src.Ports {
			bag := src.Ports[i].PropertyBag.Clone()
			if err := bag.Put(bagAppProtocol, src.Ports[i].AppProtocol); err != nil {
				return err
			}
			in.Ports[i] = oldPortStorage{
				Name: conversion.Pointer(src.Ports[i].Name), Port: conversion.Pointer(src.Ports[i].Port), PropertyBag: bag.OrNil(),
			}
		}
	}
	if err := bag.Put(bagProbe, src.Probe); err != nil {
		return err
	}
	if src.Retries != nil {
		bag := src.Retries.PropertyBag.Clone()
		if err := bag.Put(bagBackoff, src.Retries.Backoff); err != nil {
			return err
		}
		in.Retries = &oldRetriesStorage{Attempts: conversion.Pointer(src.Retries.Attempts), PropertyBag: bag.OrNil()}
	}
	if src.Rewrites != nil {
		in.Rewrites = make([]oldRewriteStorage, len(src.Rewrites))
		for i := range src.Rewrites {
			bag := src.Rewrites[i].PropertyBag.Clone()
			if err := bag.Put(bagCode, src.Rewrites[i].Code); err != nil {
				return err
			}
			in.Rewrites[i] = oldRewriteStorage{
				From: conversion.Pointer(src.Rewrites[i].From), To: conversion.Pointer(src.Rewrites[i].To), PropertyBag: bag.OrNil(),
			}
		}
	}
	bag.Take(bagTemplate, &in.Template)
	in.PropertyBag = bag.OrNil()

	var self any = in
	if augmented, ok := self.(assignableWidgetSpec); ok {
		if err := augmented.AssignPropertiesFrom(src); err != nil {
			return fmt.Errorf("AssignPropertiesFrom of WidgetSpec, v1→v1alpha1: %w", err)
		}
	}
	return nil
}

// AssignPropertiesTo makes a reference of a name. The parts that the name does not show are restored if the name is the same.
func (in *oldWidgetSpecStorage) AssignPropertiesTo(dst *widgetSpecStorage) error {
	if dst.PropertyBag.TakeDerived(bagRef, in.ServiceName, &dst.Ref) == conversion.Exact {
		return nil
	}
	dst.Ref = nil
	if in.ServiceName != nil {
		kind := "Service"
		dst.Ref = &referenceStorage{Kind: &kind, Name: conversion.Pointer(in.ServiceName)}
	}
	return nil
}

// AssignPropertiesFrom makes a name of a reference, and stashes one that is more than a Service's name.
func (in *oldWidgetSpecStorage) AssignPropertiesFrom(src *widgetSpecStorage) error {
	if src.Ref == nil {
		return nil
	}
	if src.Ref.Kind != nil && *src.Ref.Kind == "Service" && src.Ref.Name != nil {
		in.ServiceName = conversion.Pointer(src.Ref.Name)
		if len(src.Ref.PropertyBag) == 0 {
			return nil
		}
	}
	return in.PropertyBag.PutDerived(bagRef, src.Ref, in.ServiceName)
}
