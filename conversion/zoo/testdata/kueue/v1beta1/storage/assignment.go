/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"
	"strings"

	"github.com/mallard-dev/mallard/conversion"

	v1beta2storage "example.com/kueue/v1beta2/storage"
)

// mostDomains is the maximum of an assignment in the CRD.
const mostDomains = 100_000

// assignmentUp divides the values of all domains by levels, without what all values of a level begin and end with.
func assignmentUp(in *TopologyAssignment) *v1beta2storage.TopologyAssignment {
	out := &v1beta2storage.TopologyAssignment{Levels: slices.Clone(in.Levels)}
	if len(in.Domains) == 0 {
		return out
	}
	slice := v1beta2storage.TopologyAssignmentSlice{DomainCount: new(int32(len(in.Domains)))} //nolint:gosec // of a list
	for level := range in.Levels {
		values := make([]string, len(in.Domains))
		for i, domain := range in.Domains {
			if len(domain.Values) != len(in.Levels) {
				return nil
			}
			values[i] = domain.Values[level]
		}
		slice.ValuesPerLevel = append(slice.ValuesPerLevel, compact(values))
	}
	counts := make([]int32, len(in.Domains))
	for i, domain := range in.Domains {
		counts[i] = conversion.Value(domain.Count)
	}
	slice.PodCounts = &v1beta2storage.TopologyAssignmentSlicePodCounts{Individual: counts}
	if len(slices.Compact(slices.Clone(counts))) == 1 {
		slice.PodCounts = &v1beta2storage.TopologyAssignmentSlicePodCounts{Universal: &counts[0]}
	}
	out.Slices = []v1beta2storage.TopologyAssignmentSlice{slice}
	return out
}

func compact(values []string) v1beta2storage.TopologyAssignmentSliceLevelValues {
	if len(slices.Compact(slices.Clone(values))) == 1 {
		return v1beta2storage.TopologyAssignmentSliceLevelValues{Universal: &values[0]}
	}
	prefix, suffix, shortest := values[0], values[0], len(values[0])
	for _, value := range values {
		shortest = min(shortest, len(value))
		for !strings.HasPrefix(value, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
		for !strings.HasSuffix(value, suffix) {
			suffix = suffix[1:]
		}
	}
	prefix = prefix[:min(len(prefix), shortest-len(suffix))]
	roots := make([]string, len(values))
	for i, value := range values {
		roots[i] = value[len(prefix) : len(value)-len(suffix)]
	}
	return v1beta2storage.TopologyAssignmentSliceLevelValues{Individual: &v1beta2storage.TopologyAssignmentSliceLevelIndividualValues{
		Prefix: conversion.NonZero(prefix), Suffix: conversion.NonZero(suffix), Roots: roots,
	}}
}

// assignmentDown lists all domains.
func assignmentDown(in *v1beta2storage.TopologyAssignment) *TopologyAssignment {
	out := &TopologyAssignment{Levels: slices.Clone(in.Levels), Domains: []TopologyDomainAssignment{}}
	for _, slice := range in.Slices {
		count := int(conversion.Value(slice.DomainCount))
		if len(slice.ValuesPerLevel) != len(in.Levels) || count > mostDomains {
			return nil
		}
		for i := range count {
			domain := TopologyDomainAssignment{}
			for _, level := range slice.ValuesPerLevel {
				value, ok := valueAt(level, i)
				if !ok {
					return nil
				}
				domain.Values = append(domain.Values, value)
			}
			switch counts := slice.PodCounts; {
			case counts != nil && counts.Universal != nil:
				domain.Count = new(*counts.Universal)
			case counts != nil && i < len(counts.Individual):
				domain.Count = new(counts.Individual[i])
			default:
				return nil
			}
			out.Domains = append(out.Domains, domain)
		}
	}
	return out
}

func valueAt(level v1beta2storage.TopologyAssignmentSliceLevelValues, i int) (value string, ok bool) {
	switch {
	case level.Universal != nil:
		return *level.Universal, true
	case level.Individual != nil && i < len(level.Individual.Roots):
		return conversion.Value(level.Individual.Prefix) + level.Individual.Roots[i] + conversion.Value(level.Individual.Suffix), true
	default:
		return "", false
	}
}
