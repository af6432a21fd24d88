/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Widget is a kind.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WidgetSpec `json:"spec"`
}

// WidgetSpec has fields that JSON calls as v1beta1 does and Go does not.
type WidgetSpec struct {
	Common    `json:",inline"`
	Container string         `json:"container,omitempty"`
	When      map[string]int `json:"when,omitempty"`
	Target    string         `json:"target,omitempty"`
	Again     string         `json:"moved,omitempty"`
	Sunken    string         `json:"sunk,omitempty"`
	Other     string         `json:"other,omitempty"`
}

// Common is inlined.
type Common struct {
	Lifted string `json:"lifted,omitempty"`
}
