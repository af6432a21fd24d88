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

// WidgetSpec has fields that JSON calls as v1 does and Go does not.
type WidgetSpec struct {
	Common          `json:",inline"`
	ContainerName   string   `json:"container,omitempty"`
	WhenExpressions []string `json:"when,omitempty"`
	// Moved becomes another field, and v1 has one of its name in JSON.
	//
	// +conversion:rename=Target
	Moved string `json:"moved,omitempty"`
	// Lifted is a part of an inlined struct in v1.
	Lifted string `json:"lifted,omitempty"`
	// Different is another field than that of v1.
	//
	// +conversion:strategy=stash
	Different string `json:"other,omitempty"`
}

// Common is inlined.
type Common struct {
	Sunk string `json:"sunk,omitempty"`
}
