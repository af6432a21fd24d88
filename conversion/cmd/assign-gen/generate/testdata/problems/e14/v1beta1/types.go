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
	Steps []Step `json:"steps,omitempty"`
	// Tasks have names.
	Tasks []Task `json:"tasks,omitempty"`
	// Named have the same names.
	//
	// +conversion:key=nmae
	Named []Task `json:"named,omitempty"`
	// One is no list.
	//
	// +conversion:key=name
	One Task `json:"one,omitempty"`
}

// Task can be distinguished from others.
type Task struct {
	Name string `json:"name"`
}

// Step cannot be told from another.
type Step struct {
	From string `json:"from"`
}
