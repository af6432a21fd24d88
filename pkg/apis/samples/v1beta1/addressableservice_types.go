/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1beta1

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
// +kubebuilder:deprecatedversion:warning="samples.knative.dev/v1beta1 AddressableService is deprecated; use samples.knative.dev/v1"
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=URL,type=string,JSONPath=`.status.address.url`
// +kubebuilder:printcolumn:name=Target,type=string,JSONPath=`.spec.ref.name`,priority=1
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.metadata.annotations['samples\.knative\.dev/addressableservice\.class']`,priority=1
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// AddressableService gives a Service, or any other object that has an address, another address: with the port, the path and the exposure that its
// consumers need.
type AddressableService struct {
	metav1.TypeMeta `json:",inline"`

	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired address.
	// +required
	Spec AddressableServiceSpec `json:"spec,omitzero"`

	// Current address, as the operator last observed it.
	// +optional
	Status AddressableServiceStatus `json:"status,omitzero"`
}

var (
	_ apis.Validatable = (*AddressableService)(nil)
	_ apis.Defaultable = (*AddressableService)(nil)
	_ runtime.Object   = (*AddressableService)(nil)
)

// Exposure says from where an address can be reached.
// +kubebuilder:validation:Enum=Internal;External
type Exposure string

const (
	// ExposureInternal is the target's own host name, which only this cluster
	// resolves. It is the default, and ClusterLocal at v1.
	ExposureInternal Exposure = "Internal"

	// ExposureExternal is a host name made from the domain template of the
	// ConfigMap config-addressable, and Public at v1.
	ExposureExternal Exposure = "External"
)

// AddressableServiceSpec describes the desired address.
type AddressableServiceSpec struct {
	// Target of the reference: a Service, or any object that has an address in status.address.url.
	// +required
	// +conversion:older=augment
	Ref TargetReference `json:"ref,omitzero"`

	// Number of the target's port. Without it, the address has no port. If v1 lists several ports, this is the first.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +conversion:strategy=augment
	Port int32 `json:"port,omitempty"`

	// Path that is appended to the URL. It starts with a slash.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches("^(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)+$")`,message="path must start with a slash and contain only characters that need no escaping in a URL: letters, digits and /._~!$&'()*+,;=:@-"
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(s, s == '.' || s == '..')",message="path must not hold the segments . or .."
	Path string `json:"path,omitempty"`

	// Reachability of the address. Internal, the default, keeps the host name of the target; External takes a host name from the operator's
	// domain template.
	// +optional
	// +conversion:rename=Visibility
	// +conversion:enum=Internal:ClusterLocal,External:Public
	Exposure Exposure `json:"exposure,omitempty"`
}

// TargetReference names the object whose address is taken.
//
// +kubebuilder:validation:XValidation:rule="self.apiVersion != 'v1' || self.kind == 'Service'",message="kind must be Service when apiVersion is v1: no other core kind has an address"
type TargetReference struct {
	// API group and version of the target, for example v1 for a Service.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`
	// +required
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the target, for example Service.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9]*$`
	// +required
	Kind string `json:"kind,omitempty"`

	// Namespace of the target. The default is that of the AddressableService; another one has to be allowed by the ConfigMap
	// config-addressable.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`

	// Name of the target.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +required
	Name string `json:"name,omitempty"`
}

// AddressableServiceStatus describes the current address, as the operator last observed it.
type AddressableServiceStatus struct {
	duckv1.Status `json:",inline"`

	// Address at which the target can be reached. If v1 lists several addresses, this is the first.
	// +optional
	// +conversion:strategy=augment
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
