/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Widget is a kind.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WidgetSpec `json:"spec"`
}

// WidgetSpec holds what is wrong.
type WidgetSpec struct {
	// Renam is misspelt.
	//
	// +conversion:renam=Same
	Renam    string `json:"renam,omitempty"`
	Trailing string `json:"trailing,omitempty"` // +conversion:sensitive
	// Same is the same.
	//
	// +conversion:augment
	Same string `json:"same"`
	// Late has a marker about a version that has it.
	Late string `json:"late,omitempty"`
}
