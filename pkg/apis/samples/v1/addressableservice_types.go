/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmeta"
)

// +genclient
// +genreconciler:class=samples.knative.dev/addressableservice.class,stubs
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:shortName=asvc,categories={all,knative}
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels={app.kubernetes.io/name=mallard,app.kubernetes.io/part-of=mallard,app.kubernetes.io/version=devel,duck.knative.dev/addressable=true,knative.dev/crd-install=true}
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=URL,type=string,JSONPath=`.status.address.url`
// +kubebuilder:printcolumn:name=Target,type=string,JSONPath=`.spec.ref.name`,priority=1
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.metadata.annotations['samples\.knative\.dev/addressableservice\.class']`,priority=1
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`

// AddressableService gives a Service, or any other object that has an address, another address: with the ports, the path and the visibility that its
// consumers need, and on request under an alias in a directory namespace.
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
	Status AddressableServiceStatus `json:"status,omitempty"`
}

var (
	_ apis.Validatable   = (*AddressableService)(nil)
	_ apis.Defaultable   = (*AddressableService)(nil)
	_ kmeta.OwnerRefable = (*AddressableService)(nil)
	_ runtime.Object     = (*AddressableService)(nil)
	_ duckv1.KRShaped    = (*AddressableService)(nil)
)

// Visibility says from where an address can be reached.
// +kubebuilder:validation:Enum=ClusterLocal;Public
type Visibility string

const (
	// VisibilityClusterLocal is the target's own host name, which only this
	// cluster resolves. It is the default.
	VisibilityClusterLocal Visibility = "ClusterLocal"

	// VisibilityPublic is a host name made from the domain template of the
	// ConfigMap config-addressable.
	VisibilityPublic Visibility = "Public"
)

// AddressableServiceSpec describes the desired address.
type AddressableServiceSpec struct {
	// Target of the reference: a Service, or any object that has an address in status.address.url.
	// +required
	Ref TargetReference `json:"ref,omitzero"`

	// Ports of the target, each of which gets an address. Without ports, there is one address: that of port 80 of a Service, or else of its first
	// TCP port, or the first address of another object. The first becomes status.address.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.port) || self.exists_one(q, has(q.port) && q.port == p.port))",message="ports must not name one port number twice"
	// +conversion:older=augment
	Ports []AddressPort `json:"ports,omitempty"`

	// Path that is appended to every URL. It starts with a slash.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches("^(/[A-Za-z0-9._~!$&'()*+,;=:@-]*)+$")`,message="path must start with a slash and contain only characters that need no escaping in a URL: letters, digits and /._~!$&'()*+,;=:@-"
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(s, s == '.' || s == '..')",message="path must not hold the segments . or .."
	Path *string `json:"path,omitempty"`

	// Reachability of the address. ClusterLocal, the default, keeps the host name of the target; Public takes a host name from the operator's
	// domain template.
	// +optional
	Visibility Visibility `json:"visibility,omitempty"`

	// Alias under which the address is published in the directory namespace.
	// +optional
	Publish *Publication `json:"publish,omitempty"`
}

// TargetReference names the object whose address is taken. Its fields are those
// of Knative's KReference that say which object is meant, with bounds.
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

// GroupVersionKind returns the target's kind. An apiVersion that cannot be parsed, which the schema rejects, gives a kind that does not exist.
func (r TargetReference) GroupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// String names the target for messages: Kind.group namespace/name.
func (r TargetReference) String() string {
	if r.Namespace == "" {
		return fmt.Sprintf("%s %s", r.GroupVersionKind().GroupKind(), r.Name)
	}
	return fmt.Sprintf("%s %s/%s", r.GroupVersionKind().GroupKind(), r.Namespace, r.Name)
}

// AddressPort selects one port of the target and names the address that it gets.
type AddressPort struct {
	// Name of the address. Without a port number, it also selects the port of a Service, or the named address of another Addressable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Name string `json:"name,omitempty"`

	// Number of the port. A Service must expose it with the protocol TCP.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// Protocol of the port, which determines the scheme of the URL. The default is that of the Service's port, https for number 443 of a
	// Service, or http.
	// +optional
	// +kubebuilder:validation:Enum=http;https;grpc;kubernetes.io/h2c;kubernetes.io/ws;kubernetes.io/wss
	AppProtocol string `json:"appProtocol,omitempty"`
}

// Publication requests an alias in the directory namespace.
type Publication struct {
	// Name of the ExternalName Service in the directory namespace that points to the host of status.address. An alias belongs to the first object
	// that requests it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	// +required
	Alias string `json:"alias,omitempty"`
}

// AddressableServiceStatus describes the current address, as the operator last observed it.
// Conditions and addresses are Knative's duck types, so that everything which
// consumes an Addressable can consume this kind.
type AddressableServiceStatus struct {
	duckv1.Status `json:",inline"`

	// +conversion:older=augment
	duckv1.AddressStatus `json:",inline"`
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
