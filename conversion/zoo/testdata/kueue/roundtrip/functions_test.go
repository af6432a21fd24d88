/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"fmt"

	"sigs.k8s.io/randfill"

	"example.com/kueue/v1beta1"
	"example.com/kueue/v1beta2"
)

// Upstream panics at assignments whose lists have different lengths, and random references and fields would hardly ever be valid.
func init() {
	conversionFunctions = append(conversionFunctions,
		func(assignment *v1beta1.TopologyAssignment, c randfill.Continue) {
			*assignment = v1beta1.TopologyAssignment{Levels: texts("level", 1+c.Intn(3), c), Domains: []v1beta1.TopologyDomainAssignment{}}
			for range c.Intn(4) {
				assignment.Domains = append(assignment.Domains,
					v1beta1.TopologyDomainAssignment{Values: texts("node", len(assignment.Levels), c), Count: 1 + c.Int31n(3)})
			}
		},
		func(assignment *v1beta2.TopologyAssignment, c randfill.Continue) {
			*assignment = v1beta2.TopologyAssignment{Levels: texts("level", 1+c.Intn(3), c)}
			for range c.Intn(3) {
				domains := 1 + c.Intn(3)
				slice := v1beta2.TopologyAssignmentSlice{DomainCount: int32(domains)}
				slice.PodCounts.Universal = new(1 + c.Int31n(3))
				if c.Bool() {
					slice.PodCounts.Universal = nil
					for range domains {
						slice.PodCounts.Individual = append(slice.PodCounts.Individual, 1+c.Int31n(3))
					}
				}
				for range assignment.Levels {
					values := v1beta2.TopologyAssignmentSliceLevelValues{Universal: new("node")}
					if c.Bool() {
						values.Universal = nil
						values.Individual = &v1beta2.TopologyAssignmentSliceLevelIndividualValues{
							Prefix: new("node-"), Suffix: new(".local"), Roots: texts("", domains, c),
						}
					}
					slice.ValuesPerLevel = append(slice.ValuesPerLevel, values)
				}
				assignment.Slices = append(assignment.Slices, slice)
			}
		},
		func(spec *v1beta1.WorkloadSpec, c randfill.Continue) {
			c.FillNoCustom(spec)
			spec.PriorityClassSource = []string{"", "kueue.x-k8s.io/workloadpriorityclass", "scheduling.k8s.io/priorityclass"}[c.Intn(3)]
		},
		func(reference *v1beta2.PriorityClassRef, c randfill.Continue) {
			*reference = v1beta2.PriorityClassRef{Group: v1beta2.PodPriorityClassGroup, Kind: v1beta2.PodPriorityClassKind, Name: c.String(0)}
			if c.Bool() {
				reference.Group, reference.Kind = v1beta2.WorkloadPriorityClassGroup, v1beta2.WorkloadPriorityClassKind
			}
		},
	)
}

func texts(prefix string, count int, c randfill.Continue) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprint(prefix, c.Intn(3))
	}
	return all
}
