/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

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
	// Size is the number of machines.
	//
	// +conversion:rename=Replicas
	Size int32 `json:"size,omitempty"`
}

// AddToScheme adds the types of this package to a scheme.
var AddToScheme = (&scheme.Builder{GroupVersion: schema.GroupVersion{Group: "gizmo.example.com", Version: "v1alpha1"}}).Register(&Gizmo{}).AddToScheme
