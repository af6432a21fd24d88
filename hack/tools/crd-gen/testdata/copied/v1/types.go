/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Parrot has two fields that say the same.
type Parrot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is asked for.
	Spec ParrotSpec `json:"spec"`
}

// ParrotSpec is what is asked for.
type ParrotSpec struct {
	// Number of feathers.
	Feathers int32 `json:"feathers"`

	// The left one.
	Left ParrotLeg `json:"left"`

	// The right one.
	Right ParrotLeg `json:"right"`
}

// ParrotLeg is used at two places, where its fields may say the same.
type ParrotLeg struct {
	// How long it is.
	Length int32 `json:"length"`

	// Number of feathers.
	Claws int32 `json:"claws"`
}
