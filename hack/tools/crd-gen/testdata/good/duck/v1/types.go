/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genduck

// Floatable is what floats.
type Floatable struct {
	// How deep it lies in the water.
	Draught int32 `json:"draught"`
}

// FloatableType is the skeleton of what floats, and no kind.
type FloatableType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec FloatableTypeSpec `json:"spec"`
}

// FloatableTypeSpec says where Floatable stands.
type FloatableTypeSpec struct {
	Floatable Floatable `json:"floatable"`
}
