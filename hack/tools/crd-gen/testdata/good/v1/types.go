/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/tracker"

	duckgoodv1 "github.com/mallard-dev/mallard/hack/tools/crd-gen/testdata/good/duck/v1"
)

// +kubebuilder:resource:path=geese,shortName=gs
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels={duck.knative.dev/addressable=true}

// Goose uses every type that crd-gen brings a schema for.
type Goose struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What is asked for.
	Spec GooseSpec `json:"spec"`

	// What was found.
	// +optional
	Status GooseStatus `json:"status,omitempty"`
}

// GooseSpec is what is asked for.
type GooseSpec struct {
	// Where it comes from.
	Source *apis.URL `json:"source"`

	// How it floats.
	Floatable duckgoodv1.Floatable `json:"floatable"`

	// Whom it looks for.
	// +optional
	Subject tracker.Reference `json:"subject,omitempty"`

	// Whom it avoids.
	// +optional
	Enemies metav1.LabelSelector `json:"enemies,omitempty"`

	// When it came.
	// +optional
	Arrival apis.VolatileTime `json:"arrival,omitempty"`

	// Whom it follows.
	Leader duckv1.KReference `json:"leader"`

	// Who follows it.
	// +optional
	// +kubebuilder:validation:MaxItems=8
	Followers []duckv1.KReference `json:"followers,omitempty"`
}

// GooseStatus is what was found.
type GooseStatus struct {
	duckv1.Status        `json:",inline"`
	duckv1.AddressStatus `json:",inline"`
}
