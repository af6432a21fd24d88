/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Gizmo is a set of identical machines.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Gizmo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec GizmoSpec `json:"spec"`
}

// GizmoSpec is the desired state of a Gizmo.
type GizmoSpec struct {
	// Replicas is the number of machines.
	Replicas *int32 `json:"replicas,omitempty"`

	// Strategy is the way in which machines are replaced.
	//
	// +conversion:enum=Rolling:RollingUpdate,Recreate:Recreate,fallback=Rolling
	Strategy Strategy `json:"strategy,omitempty"`

	// Ports are open on each machine.
	//
	// +listType=map
	// +listMapKey=name
	Ports []Port `json:"ports,omitempty"`
}

// Strategy is the way in which machines are replaced.
type Strategy string

const (
	// StrategyRolling replaces one machine after another.
	StrategyRolling Strategy = "Rolling"
	// StrategyRecreate removes all machines first.
	StrategyRecreate Strategy = "Recreate"
)

// Port is open on each machine.
type Port struct {
	Name string `json:"name"`
	Port int32  `json:"port"`
}

// AddToScheme adds the types of this package to a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "gizmo.example.com", Version: "v1beta1"}}).Register(&Gizmo{}).AddToScheme
