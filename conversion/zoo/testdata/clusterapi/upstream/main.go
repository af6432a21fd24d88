/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts the core kinds of Cluster API as its webhook does.
package main

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/api/core/v1beta1"
	"sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

// kind is a kind with its constructors.
type kind = upstream.Kind[conversion.Hub, conversion.Convertible]

func main() {
	// The webhook reads the version from the CRD of the provider.
	v1beta1.SetAPIVersionGetter(func(kind schema.GroupKind) (string, error) {
		return schema.GroupVersion{Group: kind.Group, Version: "v1beta1"}.String(), nil
	})
	upstream.Serve(upstream.Spokes(map[string]kind{
		"Cluster":            of(&v1beta2.Cluster{}, &v1beta1.Cluster{}),
		"ClusterClass":       of(&v1beta2.ClusterClass{}, &v1beta1.ClusterClass{}),
		"Machine":            of(&v1beta2.Machine{}, &v1beta1.Machine{}),
		"MachineDeployment":  of(&v1beta2.MachineDeployment{}, &v1beta1.MachineDeployment{}),
		"MachineDrainRule":   of(&v1beta2.MachineDrainRule{}, &v1beta1.MachineDrainRule{}),
		"MachineHealthCheck": of(&v1beta2.MachineHealthCheck{}, &v1beta1.MachineHealthCheck{}),
		"MachinePool":        of(&v1beta2.MachinePool{}, &v1beta1.MachinePool{}),
		"MachineSet":         of(&v1beta2.MachineSet{}, &v1beta1.MachineSet{}),
	}))
}

// of returns constructors that copy the two objects.
func of(hub conversion.Hub, spoke conversion.Convertible) kind {
	return kind{
		Hub: func() conversion.Hub { return hub.DeepCopyObject().(conversion.Hub) }, //nolint:forcetypeassert // a copy
		Spokes: map[string]func() conversion.Convertible{
			"v1beta1": func() conversion.Convertible { return spoke.DeepCopyObject().(conversion.Convertible) }, //nolint:forcetypeassert // a copy
		},
	}
}
