/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package v1 has a type for each option of the marker +genreconciler.
//
// +groupName=options.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// Plain has the marker without an option.
//
// +genclient
// +genreconciler
type Plain struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status duckv1.Status
}

// Classed is reconciled by whoever has its class.
//
// +genclient
// +genreconciler:class=example.com/class
type Classed struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status duckv1.Status
}

// Unshaped has a status that is not Knative's.
//
// +genclient
// +genreconciler:krshapedlogic=false
type Unshaped struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status struct{ Seen int64 }
}

// Stubbed gets files to begin with.
//
// +genclient
// +genreconciler:stubs
type Stubbed struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status duckv1.Status
}

// Statusless has no field of the name Status.
//
// +genclient
// +genreconciler:krshapedlogic=false
type Statusless struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}

// Wide is in no namespace.
//
// +genclient
// +genclient:nonNamespaced
// +genreconciler
type Wide struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status duckv1.Status
}

// Unmarked has a client alone.
//
// +genclient
type Unmarked struct {
	metav1.TypeMeta
	metav1.ObjectMeta

	Status duckv1.Status
}
