/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/mallard-dev/mallard/conversion"

	v1storage "example.com/endpointslice/v1/storage"
)

// AssignPropertiesTo takes the zone out of the topology, and the host name if it is the name of the node.
func (in *Endpoint) AssignPropertiesTo(dst *v1storage.Endpoint) error {
	var p parts
	err := conversion.DeriveWith(
		&dst.PropertyBag, bagV1DeprecatedTopology, bagV1beta1Topology, whole{in.Topology}, &p, divided, joined, in.NodeName)
	dst.DeprecatedTopology, dst.Zone = p.Topology, p.Zone
	return err
}

// AssignPropertiesFrom adds the zone and the name of the node to the topology.
func (in *Endpoint) AssignPropertiesFrom(src *v1storage.Endpoint) error {
	var w whole
	err := conversion.DeriveWith(
		&in.PropertyBag, bagV1beta1Topology, bagV1DeprecatedTopology, parts{src.DeprecatedTopology, src.Zone}, &w, joined, divided, src.NodeName)
	in.Topology = w.Topology
	return err
}

// whole is the topology in v1beta1. It is a struct so that an absent one is derived, too: v1 may have a node.
type whole struct {
	Topology map[string]string `json:"topology"`
}

// parts are the topology and the zone in v1.
type parts struct {
	Topology map[string]string `json:"topology"`
	Zone     *string           `json:"zone"`
}

func divided(w whole, node *string) parts {
	p := parts{Topology: maps.Clone(w.Topology)}
	if zone, ok := p.Topology[corev1.LabelTopologyZone]; ok {
		p.Zone = &zone
		delete(p.Topology, corev1.LabelTopologyZone)
	}
	if host, ok := p.Topology[corev1.LabelHostname]; ok && node != nil && host == *node {
		delete(p.Topology, corev1.LabelHostname)
	}
	if len(p.Topology) < len(w.Topology) && len(p.Topology) == 0 {
		p.Topology = nil
	}
	return p
}

func joined(p parts, node *string) whole {
	w := whole{Topology: maps.Clone(p.Topology)}
	if p.Zone == nil && node == nil {
		return w
	}
	if w.Topology == nil {
		w.Topology = make(map[string]string)
	}
	if p.Zone != nil {
		w.Topology[corev1.LabelTopologyZone] = *p.Zone
	}
	if node != nil && w.Topology[corev1.LabelHostname] == "" {
		w.Topology[corev1.LabelHostname] = *node
	}
	return w
}
