/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion"

	v1beta2storage "example.com/kueue/v1beta2/storage"
)

// oldChecks are the checks of v1beta1 without a strategy, and whether the strategy of v1beta2 is made of them.
type oldChecks struct {
	Checks []string `json:"checks"`
	Made   bool     `json:"made,omitempty"`
}

// AssignPropertiesTo shows the checks as a strategy, unless there is one.
func (in *ClusterQueueSpec) AssignPropertiesTo(dst *v1beta2storage.ClusterQueueSpec) error {
	if in.AdmissionChecksStrategy != nil {
		dst.AdmissionChecksStrategy = &v1beta2storage.AdmissionChecksStrategy{}
		if err := in.AdmissionChecksStrategy.AssignProperties_To_AdmissionChecksStrategy(dst.AdmissionChecksStrategy); err != nil {
			return err
		}
	}
	if in.AdmissionChecks == nil {
		return nil
	}
	old := oldChecks{Checks: in.AdmissionChecks, Made: dst.AdmissionChecksStrategy == nil && len(in.AdmissionChecks) > 0}
	if old.Made {
		dst.AdmissionChecksStrategy = &v1beta2storage.AdmissionChecksStrategy{}
		for _, name := range in.AdmissionChecks {
			dst.AdmissionChecksStrategy.AdmissionChecks = append(
				dst.AdmissionChecksStrategy.AdmissionChecks, v1beta2storage.AdmissionCheckStrategyRule{Name: conversion.NonZero(name)})
		}
	}
	return dst.PropertyBag.PutDerived(bagV1beta1AdmissionChecks, old, dst.AdmissionChecksStrategy)
}

// AssignPropertiesFrom shows the strategy, or the checks that it was made of.
func (in *ClusterQueueSpec) AssignPropertiesFrom(src *v1beta2storage.ClusterQueueSpec) error {
	var old oldChecks
	if in.PropertyBag.TakeDerived(bagV1beta1AdmissionChecks, src.AdmissionChecksStrategy, &old) == conversion.Exact {
		in.AdmissionChecks = slices.Clone(old.Checks)
		if old.Made {
			return nil
		}
	}
	if src.AdmissionChecksStrategy == nil {
		return nil
	}
	in.AdmissionChecksStrategy = &AdmissionChecksStrategy{}
	return in.AdmissionChecksStrategy.AssignProperties_From_AdmissionChecksStrategy(src.AdmissionChecksStrategy)
}
