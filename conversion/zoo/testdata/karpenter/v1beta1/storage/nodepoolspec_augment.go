/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"time"

	"github.com/mallard-dev/mallard/conversion"

	v1storage "example.com/karpenter/v1/storage"
)

// underutilized is the policy that has no duration in v1beta1: nodes are consolidated at once.
const underutilized = "WhenUnderutilized"

// olderAfter and newerAfter are a duration of one version and the policy of v1beta1 that it belongs to.
type (
	olderAfter struct {
		After  *NillableDuration `json:"after,omitempty"`
		Policy *string           `json:"policy,omitempty"`
	}
	newerAfter struct {
		After  *v1storage.NillableDuration `json:"after,omitempty"`
		Policy *string                     `json:"policy,omitempty"`
	}
)

// AssignPropertiesTo shows the duration that v1beta1 implies.
func (in *NodePoolSpec) AssignPropertiesTo(dst *v1storage.NodePoolSpec) error {
	var older olderAfter
	if in.Disruption != nil {
		older = olderAfter{After: in.Disruption.ConsolidateAfter, Policy: in.Disruption.ConsolidationPolicy}
	}
	var newer newerAfter
	if dst.PropertyBag.TakeDerived(bagV1ConsolidateAfter, older, &newer) != conversion.Exact {
		var err error
		if newer, err = older.up(); err != nil {
			return err
		}
	}
	if newer.After != nil {
		if dst.Disruption == nil {
			dst.Disruption = &v1storage.Disruption{}
		}
		dst.Disruption.ConsolidateAfter = newer.After
	}
	back, err := newer.down()
	if err != nil {
		return err
	}
	return keep(&dst.PropertyBag, bagV1beta1DisruptionConsolidateAfter, older, newer, back)
}

// AssignPropertiesFrom hides the duration that v1beta1 implies.
func (in *NodePoolSpec) AssignPropertiesFrom(src *v1storage.NodePoolSpec) error {
	var newer newerAfter
	if src.Disruption != nil {
		newer.After = src.Disruption.ConsolidateAfter
	}
	if in.Disruption != nil {
		newer.Policy = in.Disruption.ConsolidationPolicy
	}
	var older olderAfter
	if in.PropertyBag.TakeDerived(bagV1beta1DisruptionConsolidateAfter, newer, &older) != conversion.Exact {
		var err error
		if older, err = newer.down(); err != nil {
			return err
		}
	}
	if older.After != nil {
		if in.Disruption == nil {
			in.Disruption = &Disruption{}
		}
		in.Disruption.ConsolidateAfter = older.After
	}
	again, err := older.up()
	if err != nil {
		return err
	}
	return keep(&in.PropertyBag, bagV1ConsolidateAfter, newer, older, again)
}

func (a olderAfter) up() (newerAfter, error) {
	newer := newerAfter{Policy: a.Policy}
	switch {
	case conversion.Value(a.Policy) == underutilized:
		newer.After = &v1storage.NillableDuration{Duration: new(time.Duration), Raw: []byte(`"0s"`)} // as read from JSON
	case a.After != nil:
		newer.After = &v1storage.NillableDuration{}
		return newer, a.After.AssignProperties_To_NillableDuration(newer.After)
	}
	return newer, nil
}

func (a newerAfter) down() (olderAfter, error) {
	older := olderAfter{Policy: a.Policy}
	if conversion.Value(a.Policy) == underutilized {
		return older, nil
	}
	older.After = &NillableDuration{} // Never
	if a.After == nil {
		return older, nil
	}
	return older, older.After.AssignProperties_From_NillableDuration(a.After)
}
