/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

// A kind with two versions, each with its API type and its storage type. The names that begin with old would be in the
// packages v1alpha1 and v1alpha1/storage, the others in v1 and v1/storage.

type oldWidget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec oldWidgetSpec `json:"spec"`
}

type oldWidgetSpec struct {
	ServiceName string               `json:"serviceName"`
	Path        string               `json:"path,omitempty"`
	Headers     map[string]oldHeader `json:"headers,omitempty"`
	Rewrites    []oldRewrite         `json:"rewrites,omitempty"`
	Ports       []oldPort            `json:"ports,omitempty"`
	Retries     *oldRetries          `json:"retries,omitempty"`
	// Template is unknown to v1.
	Template *string `json:"template,omitempty"`
}

type oldHeader struct {
	Value string `json:"value"`
}

// oldRewrite is an element of a list without keys.
type oldRewrite struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// oldPort is an element of a list whose key is the name.
type oldPort struct {
	Name string `json:"name"`
	Port int32  `json:"port,omitempty"`
}

type oldRetries struct {
	Attempts int32 `json:"attempts,omitempty"`
}

type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec widgetSpec `json:"spec"`
}

type widgetSpec struct {
	Ref      *reference        `json:"ref,omitempty"`
	Path     *string           `json:"path,omitempty"`
	Headers  map[string]header `json:"headers,omitempty"`
	Rewrites []rewrite         `json:"rewrites,omitempty"`
	Ports    []port            `json:"ports,omitempty"`
	Retries  *retries          `json:"retries,omitempty"`
	Probe    *probe            `json:"probe,omitempty"`
}

type reference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

type header struct {
	Value     string `json:"value"`
	Overwrite *bool  `json:"overwrite,omitempty"`
}

type rewrite struct {
	From string `json:"from"`
	To   string `json:"to"`
	Code *int32 `json:"code,omitempty"`
}

type port struct {
	Name        string  `json:"name"`
	Port        *int32  `json:"port,omitempty"`
	AppProtocol *string `json:"appProtocol,omitempty"`
}

type retries struct {
	Attempts *int32           `json:"attempts,omitempty"`
	Backoff  *metav1.Duration `json:"backoff,omitempty"`
}

type probe struct {
	Path   string           `json:"path"`
	Period *metav1.Duration `json:"period,omitempty"`
}

type oldWidgetStorage struct {
	ObjectMeta  metav1.ObjectMeta
	Spec        *oldWidgetSpecStorage
	PropertyBag conversion.PropertyBag
}

type oldWidgetSpecStorage struct {
	ServiceName *string
	Path        *string
	Headers     map[string]oldHeaderStorage
	Rewrites    []oldRewriteStorage
	Ports       []oldPortStorage
	Retries     *oldRetriesStorage
	Template    *string
	PropertyBag conversion.PropertyBag
}

type oldHeaderStorage struct {
	Value       *string
	PropertyBag conversion.PropertyBag
}

type oldRewriteStorage struct {
	From, To    *string
	PropertyBag conversion.PropertyBag
}

type oldPortStorage struct {
	Name        *string
	Port        *int32
	PropertyBag conversion.PropertyBag
}

type oldRetriesStorage struct {
	Attempts    *int32
	PropertyBag conversion.PropertyBag
}

type widgetStorage struct {
	ObjectMeta  metav1.ObjectMeta
	Spec        *widgetSpecStorage
	PropertyBag conversion.PropertyBag
}

type widgetSpecStorage struct {
	Ref         *referenceStorage
	Path        *string
	Headers     map[string]headerStorage
	Rewrites    []rewriteStorage
	Ports       []portStorage
	Retries     *retriesStorage
	Probe       *probeStorage
	PropertyBag conversion.PropertyBag
}

type referenceStorage struct {
	Kind, Name  *string
	PropertyBag conversion.PropertyBag
}

type headerStorage struct {
	Value       *string
	Overwrite   *bool
	PropertyBag conversion.PropertyBag
}

type rewriteStorage struct {
	From, To    *string
	Code        *int32
	PropertyBag conversion.PropertyBag
}

type portStorage struct {
	Name        *string
	Port        *int32
	AppProtocol *string
	PropertyBag conversion.PropertyBag
}

type retriesStorage struct {
	Attempts    *int32
	Backoff     *metav1.Duration
	PropertyBag conversion.PropertyBag
}

type probeStorage struct {
	Path        *string                `json:"path,omitempty"`
	Period      *metav1.Duration       `json:"period,omitempty"`
	PropertyBag conversion.PropertyBag `json:"propertyBag,omitempty"`
}
