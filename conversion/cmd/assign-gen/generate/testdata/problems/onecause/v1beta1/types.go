/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Widget is a kind.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WidgetSpec `json:"spec"`
}

// WidgetSpec holds mistakes of which each shows in several places.
type WidgetSpec struct {
	Nameless struct {
		A int `json:"a"`
	} `json:"nameless"`
	Set   sets.Set[string] `json:"set,omitempty"`
	First Rule             `json:"first"`
	Rules []Rule           `json:"rules,omitempty"`
	Step  Step             `json:"step"`
	Steps []Step           `json:"steps,omitempty"`
}

// Rule has another name in the next version.
type Rule struct {
	Name string `json:"name"`
}

// Step has another name in the next version.
//
// +conversion:name=Stpe
type Step struct {
	Name string `json:"name"`
}
