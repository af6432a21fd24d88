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
	Steps []Step `json:"steps,omitempty"`
	Tasks []Task `json:"tasks,omitempty"`
	Named []Task `json:"named,omitempty"`
	One   Task   `json:"one,omitempty"`
}

// Step has a field more.
type Step struct {
	From string `json:"from"`
	Code *int32 `json:"code,omitempty"`
}

// Task has fields that v1beta1 lacks.
type Task struct {
	Name    string  `json:"name"`
	Retries int32   `json:"retries,omitempty"`
	When    string  `json:"when,omitempty"`
	Timeout *string `json:"timeout,omitempty"`
	Limits  Limits  `json:"limits,omitempty"`
}

// Limits are not in v1beta1.
type Limits struct {
	CPU string `json:"cpu,omitempty"`
}
