/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

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
	Strategy Strategy `json:"strategy,omitempty"`

	// Ports are open on each machine.
	//
	// +listType=map
	// +listMapKey=name
	Ports []Port `json:"ports,omitempty"`

	// Script runs when a machine starts.
	Script string `json:"script,omitempty"`
}

// Strategy is the way in which machines are replaced.
type Strategy string

const (
	// StrategyRollingUpdate replaces one machine after another.
	StrategyRollingUpdate Strategy = "RollingUpdate"
	// StrategyRecreate removes all machines first.
	StrategyRecreate Strategy = "Recreate"
	// StrategyOnDelete replaces machines that a user deletes.
	StrategyOnDelete Strategy = "OnDelete"
)

// Port is open on each machine.
type Port struct {
	Name     string `json:"name"`
	Port     int32  `json:"port"`
	Protocol string `json:"protocol,omitempty"`
}

// AddToScheme adds the types of this package to a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "gizmo.example.com", Version: "v1"}}).Register(&Gizmo{}).AddToScheme
