/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/randfill"

	v1 "example.com/endpointslice/v1"
	"example.com/endpointslice/v1beta1"
)

// Random topologies would not have the labels for which v1 has fields.
func init() {
	conversionFunctions = append(conversionFunctions,
		func(endpoint *v1beta1.Endpoint, c randfill.Continue) {
			c.FillNoCustom(endpoint)
			label(endpoint.Topology, endpoint.NodeName, c)
		},
		func(endpoint *v1.Endpoint, c randfill.Continue) {
			c.FillNoCustom(endpoint)
			label(endpoint.DeprecatedTopology, endpoint.NodeName, c)
		},
	)
}

func label(topology map[string]string, node *string, c randfill.Continue) {
	if topology == nil {
		return
	}
	if c.Bool() {
		topology[corev1.LabelTopologyZone] = c.String(0)
	}
	if node != nil && c.Bool() {
		topology[corev1.LabelHostname] = *node
	}
}
