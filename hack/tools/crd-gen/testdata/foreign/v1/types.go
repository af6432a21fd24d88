/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// Cuckoo uses a type of another module that crd-gen brings no schema for.
type Cuckoo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is asked for.
	Spec CuckooSpec `json:"spec"`
}

// CuckooSpec is what is asked for.
type CuckooSpec struct {
	// Where the egg goes.
	Nest duckv1.SourceSpec `json:"nest"`
}
