/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmeta"

	duckv1alpha1 "github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
)

// +genclient
// +genreconciler:stubs
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:shortName=sdeploy,categories={all,knative}
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:storageversion
// +kubebuilder:metadata:labels={app.kubernetes.io/name=mallard,app.kubernetes.io/part-of=mallard,app.kubernetes.io/version=devel,duck.samples.knative.dev/configurable=true,knative.dev/crd-install=true}
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name=Up-To-Date,type=integer,JSONPath=`.status.updatedReplicas`
// +kubebuilder:printcolumn:name=Available,type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Image,type=string,priority=1,JSONPath=`.spec.image`

// SimpleDeployment keeps a number of Pods of one image running, and replaces them one by one when the image changes.
//
// +conversion:skip
type SimpleDeployment struct {
	metav1.TypeMeta `json:",inline"`

	// Standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired Pods.
	Spec SimpleDeploymentSpec `json:"spec"`

	// Current Pods, as the operator last observed them.
	// +optional
	Status SimpleDeploymentStatus `json:"status,omitempty"`
}

var (
	_ kmeta.OwnerRefable = (*SimpleDeployment)(nil)
	_ runtime.Object     = (*SimpleDeployment)(nil)
	_ duckv1.KRShaped    = (*SimpleDeployment)(nil)
)

// SimpleDeploymentSpec describes the desired Pods.
type SimpleDeploymentSpec struct {
	// Image that the one container of each Pod runs.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`

	// Desired number of ready Pods.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas int32 `json:"replicas"`

	// Settings that other controllers add to each container.
	// +optional
	Configurable *duckv1alpha1.Configurable `json:"configurable,omitempty"`
}

// SimpleDeploymentStatus describes the current Pods, as the operator last observed them. No count includes Pods that are being deleted or that
// have terminated.
type SimpleDeploymentStatus struct {
	duckv1.Status `json:",inline"`

	// Number of active Pods, updated and outdated.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`

	// Number of active Pods that are updated, that is, created from this spec.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpdatedReplicas int32 `json:"updatedReplicas,omitempty"`

	// Number of active Pods that are ready, updated and outdated.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// Label selector of the Pods, as text, for autoscalers.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Selector string `json:"selector,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// SimpleDeploymentList is a list of SimpleDeployments.
type SimpleDeploymentList struct {
	metav1.TypeMeta `json:",inline"`

	// Standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// The SimpleDeployments.
	Items []SimpleDeployment `json:"items"`
}
