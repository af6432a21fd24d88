/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generate/testdata/problems/e07/v1beta1/common"
)

// Widget is a kind.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WidgetSpec `json:"spec"`
}

// WidgetSpec holds what is wrong.
type WidgetSpec struct {
	Same      string           `json:"same"`
	Any       any              `json:"any,omitempty"`
	Keys      map[int]string   `json:"keys,omitempty"`
	Channel   chan int         `json:"channel,omitempty"`
	Nameless  struct{ A int }  `json:"nameless,omitempty"`
	Set       sets.Set[string] `json:"set,omitempty"`
	Moment    time.Time        `json:"moment,omitempty"`
	Nowhere   Nowhere          `json:"nowhere,omitempty"`
	Hidden    string           `json:"-"`
	*Embedded `json:",inline"`
	secret    string
	Copied    common.Target `json:"copied"`
}

// Embedded is a struct.
type Embedded struct {
	Inside string `json:"inside"`
}
