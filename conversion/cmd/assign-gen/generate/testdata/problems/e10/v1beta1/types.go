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
	// Mode has no fallback.
	//
	// +conversion:enum=Internal:local,Private:local
	Mode Mode `json:"mode,omitempty"`

	Speed Speed `json:"speed,omitempty"`
}

// Mode is an enum.
type Mode string

// Modes.
const (
	Internal Mode = "Internal"
	Private  Mode = "Private"
)

// Speed has more values in v1.
type Speed string

// Speeds.
const (
	Fast Speed = "Fast"
	Slow Speed = "Slow"
)
