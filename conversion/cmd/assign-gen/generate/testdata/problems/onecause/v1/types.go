/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

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

// WidgetSpec holds what v1beta1 has.
type WidgetSpec struct {
	Nameless Named            `json:"nameless"`
	Set      sets.Set[string] `json:"set,omitempty"`
	First    Policy           `json:"first"`
	Rules    []Policy         `json:"rules,omitempty"`
	Step     Stage            `json:"step"`
	Steps    []Stage          `json:"steps,omitempty"`
}

// Named has a name.
type Named struct {
	A int `json:"a"`
}

// Policy was called Rule.
type Policy struct {
	Name string `json:"name"`
}

// Stage was called Step.
type Stage struct {
	Name string `json:"name"`
}

// Former is another name of Stage, under which a comment says something else.
type Former = Stage
