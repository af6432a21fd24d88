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
	Protocols []Protocol `json:"protocols,omitempty"`
	// Old gets into a list later on.
	//
	// +conversion:rename=Nested.Deep
	Old string `json:"old,omitempty"`
}

// Protocol is a struct.
type Protocol struct {
	Name string `json:"name"`
}
