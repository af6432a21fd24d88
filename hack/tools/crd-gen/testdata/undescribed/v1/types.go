/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Mute struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is asked for.
	Spec MuteSpec `json:"spec"`
}

// MuteSpec holds fields at every depth that say nothing of themselves.
type MuteSpec struct {
	Plain string `json:"plain"`

	// A list.
	List []MuteItem `json:"list"`

	// A map.
	Map map[string]MuteItem `json:"map"`
}

// MuteItem is an item.
type MuteItem struct {
	Nested string `json:"nested"`
}
