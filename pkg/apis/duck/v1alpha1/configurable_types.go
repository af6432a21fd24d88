/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/apis/duck"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// ConfigurableLabelKey on a CustomResourceDefinition, with the value "true", declares that its objects are Configurable; on a ClusterRole,
// that it lets those who configure read and patch such objects.
const ConfigurableLabelKey = "duck." + samples.GroupName + "/configurable"

// +genduck

// Configurable takes variables from others, for the environment of whatever the resource runs. It is for kinds that have no
// Pod template which others could write to; those that have one are PodSpecable.
type Configurable struct {
	// Environment variables of every container.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []EnvVar `json:"env,omitempty"`
}

// EnvVar is an environment variable. It has the fields of core/v1 that refer to no other object.
type EnvVar struct {
	// Name of the variable.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z_][A-Za-z0-9_]*$`
	Name string `json:"name"`

	// Value of the variable.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ConfigurableType is the skeleton of a resource that is Configurable. Objects of any such kind are read into it; it is
// no kind itself.
type ConfigurableType struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ConfigurableTypeSpec `json:"spec"`
}

// ConfigurableTypeSpec is the part of a spec that contains Configurable. It is absent in objects without configuration.
type ConfigurableTypeSpec struct {
	Configurable *Configurable `json:"configurable,omitempty"`
}

var (
	_ duck.Implementable = (*Configurable)(nil)
	_ duck.Populatable   = (*ConfigurableType)(nil)
	_ apis.Listable      = (*ConfigurableType)(nil)
)

// GetFullType implements duck.Implementable.
func (*Configurable) GetFullType() duck.Populatable {
	return &ConfigurableType{}
}

// Populate implements duck.Populatable: it sets every field, so that verification finds the one that a kind lacks.
func (t *ConfigurableType) Populate() {
	t.Spec.Configurable = &Configurable{Env: []EnvVar{{Name: "NAME", Value: "value"}}}
}

// GetListType implements apis.Listable.
func (*ConfigurableType) GetListType() runtime.Object {
	return &ConfigurableTypeList{}
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object

// ConfigurableTypeList is a list of Configurable resources.
type ConfigurableTypeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []ConfigurableType `json:"items"`
}
