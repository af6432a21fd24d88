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

// WidgetSpec holds what is wrong.
type WidgetSpec struct {
	Same string `json:"same"`
	New  int64  `json:"new,omitempty"`
	// Probe was released with other members.
	Probe *Probe `json:"probe,omitempty"`
}

// Probe is not in v1beta1.
type Probe struct {
	Path  string `json:"path"`
	Steps []Step `json:"steps,omitempty"`
}

// Step has a code that is a text by now, and a new member.
type Step struct {
	Code string `json:"code"`
	More bool   `json:"more,omitempty"`
}
