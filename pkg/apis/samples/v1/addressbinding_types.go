/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"
)

// +genclient
// +genreconciler:stubs
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:shortName=abind,categories={all,knative}
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels={app.kubernetes.io/name=mallard,app.kubernetes.io/part-of=mallard,app.kubernetes.io/version=devel,duck.knative.dev/binding=true,knative.dev/crd-install=true}
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Subject,type=string,JSONPath=`.spec.subject.kind`
// +kubebuilder:printcolumn:name=Matched,type=integer,JSONPath=`.status.subjects.matched`
// +kubebuilder:printcolumn:name=Bound,type=integer,JSONPath=`.status.subjects.bound`
// +kubebuilder:printcolumn:name=Value,type=string,JSONPath=`.status.value`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// AddressBinding puts the address of an AddressableService into the environment of the containers of other
// objects, and keeps it there for as long as the binding exists.
//
// +conversion:skip
type AddressBinding struct {
	metav1.TypeMeta `json:",inline"`

	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired binding.
	Spec AddressBindingSpec `json:"spec"`

	// Current state of the binding, as the operator last observed it.
	// +optional
	Status AddressBindingStatus `json:"status,omitempty"`
}

var (
	_ apis.Validatable   = (*AddressBinding)(nil)
	_ apis.Defaultable   = (*AddressBinding)(nil)
	_ kmeta.OwnerRefable = (*AddressBinding)(nil)
	_ runtime.Object     = (*AddressBinding)(nil)
	_ duckv1.KRShaped    = (*AddressBinding)(nil)
)

// AddressBindingSpec describes the desired binding.
type AddressBindingSpec struct {
	// Objects that get the address: one by its name, or all of a kind by a label selector. They are in this namespace, and have a Pod template
	// or are Configurable.
	// +kubebuilder:validation:XValidation:rule="has(self.apiVersion) && has(self.kind)",message="apiVersion and kind are required"
	// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.selector)",message="exactly one of name and selector is required"
	Subject tracker.Reference `json:"subject"`

	// AddressableService whose address the subjects get.
	Address AddressReference `json:"address"`

	// Name of the environment variable that contains the address.
	// +optional
	// +kubebuilder:default=K_ADDRESS
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	Variable string `json:"variable,omitempty"`
}

// AddressReference names an AddressableService.
type AddressReference struct {
	// Name of an AddressableService in the same namespace.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	Name string `json:"name"`
}

// AddressBindingStatus describes the current state of the binding, as the operator last observed it.
type AddressBindingStatus struct {
	duckv1.Status `json:",inline"`

	// Address that subjects should have. It is empty while no address exists.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`

	// Kinds whose objects can have variables of this binding: that of the subject, once the operator could list its objects,
	// and former ones until the variables are removed.
	// +optional
	// +listType=map
	// +listMapKey=apiVersion
	// +listMapKey=kind
	// +kubebuilder:validation:MaxItems=64
	Kinds []SubjectKind `json:"kinds,omitempty"`

	// Number of objects that the subject names or selects.
	// +optional
	Subjects *SubjectCount `json:"subjects,omitempty"`
}

// SubjectKind is a kind whose objects may have variables of a binding.
type SubjectKind struct {
	// API group and version of the objects.
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion"`

	// Kind of the objects.
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`

	// Resource that serves the objects, in the plural and without its group.
	// +kubebuilder:validation:MaxLength=63
	Resource string `json:"resource"`
}

// SubjectCount counts the objects that a subject names or selects.
type SubjectCount struct {
	// Objects that the subject names or selects. Finished Jobs and objects that are being deleted do not count.
	// +kubebuilder:validation:Minimum=0
	Matched int32 `json:"matched"`

	// Matched objects in which every container has the address.
	// +kubebuilder:validation:Minimum=0
	Bound int32 `json:"bound"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// AddressBindingList is a list of AddressBindings.
type AddressBindingList struct {
	metav1.TypeMeta `json:",inline"`

	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// The AddressBindings.
	Items []AddressBinding `json:"items"`
}
