/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"bytes"
	"encoding/json"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Task runs steps in a number of replicas.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Task struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec TaskSpec `json:"spec"`
}

// TaskSpec has lists that are atomic in the CRD.
type TaskSpec struct {
	MinReplicas *int32           `json:"minReplicas,omitempty"`
	MaxReplicas int32            `json:"maxReplicas"`
	Cooldown    *metav1.Duration `json:"cooldown,omitempty"`
	// Tolerance is the deviation that changes nothing. Zero differs from absent.
	Tolerance *resource.Quantity `json:"tolerance,omitempty"`
	// Metrics are read in this order.
	//
	// +listType=atomic
	// +conversion:older=augment
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`
	// +listType=atomic
	Params []Param `json:"params,omitempty"`
	// +listType=atomic
	Steps []Step `json:"steps,omitempty"`
	// +listType=atomic
	When []WhenExpression `json:"when,omitempty"`

	Timeouts Timeouts `json:"timeouts,omitzero"`
	// Results are not in v1beta1.
	//
	// +listType=atomic
	Results []Result `json:"results,omitempty"`
}

// Param is a named value.
type Param struct {
	Name  string     `json:"name"`
	Value ParamValue `json:"value"`
}

// Step is a container.
type Step struct {
	Name             string                      `json:"name"`
	Image            string                      `json:"image,omitempty"`
	ComputeResources corev1.ResourceRequirements `json:"computeResources,omitzero"`

	// OnError is not in v1beta1.
	OnError string `json:"onError,omitempty"`
}

// WhenExpression is a condition.
type WhenExpression struct {
	Input    string   `json:"input,omitempty"`
	Operator string   `json:"operator,omitempty"`
	Values   []string `json:"values,omitempty"`

	// CEL is not in v1beta1.
	CEL string `json:"cel,omitempty"`
}

// Timeouts are those of a task and of its end.
type Timeouts struct {
	Task    *metav1.Duration `json:"task,omitempty"`
	Finally *metav1.Duration `json:"finally,omitempty"`
}

// Result is a named output.
type Result struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// ParamValue is a string, a list or a map in JSON.
type ParamValue struct {
	StringVal string            `json:"stringVal"`
	ArrayVal  []string          `json:"arrayVal"`
	ObjectVal map[string]string `json:"objectVal"`
}

// MarshalJSON implements json.Marshaler.
func (v ParamValue) MarshalJSON() ([]byte, error) {
	switch {
	case v.ArrayVal != nil:
		return json.Marshal(v.ArrayVal) //nolint:wrapcheck // as encoding/json reports it
	case v.ObjectVal != nil:
		return json.Marshal(v.ObjectVal) //nolint:wrapcheck // as encoding/json reports it
	default:
		return json.Marshal(v.StringVal) //nolint:wrapcheck // as encoding/json reports it
	}
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *ParamValue) UnmarshalJSON(text []byte) error {
	*v = ParamValue{}
	switch {
	case bytes.HasPrefix(text, []byte("[")):
		return json.Unmarshal(text, &v.ArrayVal) //nolint:wrapcheck // as encoding/json reports it
	case bytes.HasPrefix(text, []byte("{")):
		return json.Unmarshal(text, &v.ObjectVal) //nolint:wrapcheck // as encoding/json reports it
	default:
		return json.Unmarshal(text, &v.StringVal) //nolint:wrapcheck // as encoding/json reports it
	}
}
