/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"github.com/mallard-dev/mallard/conversion"

	v1beta2storage "example.com/kueue/v1beta2/storage"
)

const (
	workloadSource = "kueue.x-k8s.io/workloadpriorityclass"
	podSource      = "scheduling.k8s.io/priorityclass"
)

// priorityClass is the reference in v1beta1.
type priorityClass struct {
	Name   *string `json:"name,omitempty"`
	Source *string `json:"source,omitempty"`
}

// AssignPropertiesTo makes the source the group and the kind of a reference.
func (in *WorkloadSpec) AssignPropertiesTo(dst *v1beta2storage.WorkloadSpec) error {
	var class *priorityClass
	if in.PriorityClassName != nil || in.PriorityClassSource != nil {
		class = &priorityClass{in.PriorityClassName, in.PriorityClassSource}
	}
	return conversion.Derive(
		&dst.PropertyBag, bagV1beta2PriorityClassRef, bagV1beta1PriorityClassName, class, &dst.PriorityClassRef, classUp, classDown)
}

// AssignPropertiesFrom makes the group and the kind of the reference its source.
func (in *WorkloadSpec) AssignPropertiesFrom(src *v1beta2storage.WorkloadSpec) error {
	var class *priorityClass
	err := conversion.Derive(
		&in.PropertyBag, bagV1beta1PriorityClassName, bagV1beta2PriorityClassRef, src.PriorityClassRef, &class, classDown, classUp)
	if class != nil {
		in.PriorityClassName, in.PriorityClassSource = class.Name, class.Source
	}
	return err
}

func classUp(class *priorityClass) *v1beta2storage.PriorityClassRef {
	reference := &v1beta2storage.PriorityClassRef{Name: conversion.NonZero(conversion.Value(class.Name))}
	switch conversion.Value(class.Source) {
	case workloadSource:
		reference.Group, reference.Kind = new("kueue.x-k8s.io"), new("WorkloadPriorityClass")
	case podSource:
		reference.Group, reference.Kind = new("scheduling.k8s.io"), new("PriorityClass")
	default:
		return nil
	}
	return reference
}

func classDown(reference *v1beta2storage.PriorityClassRef) *priorityClass {
	class := &priorityClass{Name: conversion.NonZero(conversion.Value(reference.Name))}
	switch conversion.Value(reference.Group) + "/" + conversion.Value(reference.Kind) {
	case "kueue.x-k8s.io/WorkloadPriorityClass":
		class.Source = new(workloadSource)
	case "scheduling.k8s.io/PriorityClass":
		class.Source = new(podSource)
	default:
		return nil
	}
	return class
}
