/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:shortName=asvc,categories={all,knative}
// +kubebuilder:subresource:status
// +kubebuilder:unservedversion
// +kubebuilder:deprecatedversion:warning="samples.knative.dev/v1alpha1 AddressableService is deprecated; use samples.knative.dev/v1"
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=URL,type=string,JSONPath=`.status.address.url`
// +kubebuilder:printcolumn:name=Target,type=string,JSONPath=`.spec.serviceName`,priority=1
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.metadata.annotations['samples\.knative\.dev/addressableservice\.class']`,priority=1
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// AddressableService gives a Service another address.
type AddressableService struct {
	metav1.TypeMeta `json:",inline"`

	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired address.
	// +optional
	Spec AddressableServiceSpec `json:"spec,omitempty"`

	// Current address, as the operator last observed it.
	// +optional
	Status AddressableServiceStatus `json:"status,omitempty"`
}

var (
	_ apis.Validatable = (*AddressableService)(nil)
	_ apis.Defaultable = (*AddressableService)(nil)
	_ runtime.Object   = (*AddressableService)(nil)
)

// AddressableServiceSpec describes the desired address.
type AddressableServiceSpec struct {
	// Name of a Service in the same namespace. It is empty if another version names a target of another kind or with a namespace; that target is
	// kept as long as the name stays empty.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$`
	// +conversion:strategy=augment
	ServiceName string `json:"serviceName"`
}

// AddressableServiceStatus describes the current address, as the operator last observed it.
type AddressableServiceStatus struct {
	duckv1.Status `json:",inline"`

	// Address at which the Service can be reached.
	// +optional
	Address *duckv1.Addressable `json:"address,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// AddressableServiceList is a list of AddressableServices.
type AddressableServiceList struct {
	metav1.TypeMeta `json:",inline"`

	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// The AddressableServices.
	Items []AddressableService `json:"items"`
}
