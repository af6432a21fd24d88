/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts the core kinds of Cluster API as its webhook does.
package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/api/core/v1beta1"
	"sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

// versions are constructors by version.
type versions = map[string]func() runtime.Object

func main() {
	// The webhook reads the version from the CRD of the provider.
	v1beta1.SetAPIVersionGetter(func(kind schema.GroupKind) (string, error) {
		return schema.GroupVersion{Group: kind.Group, Version: "v1beta1"}.String(), nil
	})
	upstream.Serve(upstream.Through("v1beta2", map[string]versions{
		"Cluster":            of(&v1beta2.Cluster{}, &v1beta1.Cluster{}),
		"ClusterClass":       of(&v1beta2.ClusterClass{}, &v1beta1.ClusterClass{}),
		"Machine":            of(&v1beta2.Machine{}, &v1beta1.Machine{}),
		"MachineDeployment":  of(&v1beta2.MachineDeployment{}, &v1beta1.MachineDeployment{}),
		"MachineDrainRule":   of(&v1beta2.MachineDrainRule{}, &v1beta1.MachineDrainRule{}),
		"MachineHealthCheck": of(&v1beta2.MachineHealthCheck{}, &v1beta1.MachineHealthCheck{}),
		"MachinePool":        of(&v1beta2.MachinePool{}, &v1beta1.MachinePool{}),
		"MachineSet":         of(&v1beta2.MachineSet{}, &v1beta1.MachineSet{}),
	}, toHub, fromHub))
}

// of returns constructors that copy the two objects.
func of(hub conversion.Hub, spoke conversion.Convertible) versions {
	return versions{"v1beta1": spoke.DeepCopyObject, "v1beta2": hub.DeepCopyObject}
}

func toHub(from, hub runtime.Object) error {
	return from.(conversion.Convertible).ConvertTo(hub.(conversion.Hub)) //nolint:forcetypeassert // as of requires
}

func fromHub(hub, to runtime.Object) error {
	return to.(conversion.Convertible).ConvertFrom(hub.(conversion.Hub)) //nolint:forcetypeassert // as of requires
}
