/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Shape is where in the objects of a kind variables stand. Each has its duck type.
type Shape int

const (
	// PodTemplate objects have a Pod template at spec.template. They are read as a duckv1.WithPod.
	PodTemplate Shape = iota
	// CronJob objects have one at spec.jobTemplate.spec.template. They are read as a duckv1.CronJob.
	CronJob
	// Configurable objects take variables at spec.configurable.env. They are read as a v1alpha1.ConfigurableType.
	Configurable
)

// Shapes are all that there are.
var Shapes = []Shape{PodTemplate, CronJob, Configurable}

// Object is an object of any kind, read as the duck type of its shape.
type Object interface {
	kmeta.Accessor
	apis.Listable
}

var (
	_ Object = (*duckv1.WithPod)(nil)
	_ Object = (*duckv1.CronJob)(nil)
	_ Object = (*v1alpha1.ConfigurableType)(nil)
)

var (
	cronJobs = schema.GroupKind{Group: "batch", Kind: "CronJob"}
	jobs     = schema.GroupKind{Group: "batch", Kind: "Job"}
)

// builtIn are those of Kubernetes' own kinds that have a Pod template where a shape has it.
var builtIn = sets.New(
	jobs,
	cronJobs,
	schema.GroupKind{Group: "apps", Kind: "Deployment"},
	schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
	schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
	schema.GroupKind{Group: "apps", Kind: "ReplicaSet"},
	schema.GroupKind{Kind: "ReplicationController"},
)

// FieldManager is the manager of the fields that the controller writes into objects. The webhook lets its writes through as
// they are, for they are what the controller has decided on, by bindings that the webhook may have seen in an older state.
const FieldManager = "addressbinding." + samples.GroupName

// WebhookName is the name of the webhook configuration that has the API server ask about what AddressBindings are for: the
// webhook writes its rules, and the controller reads them.
const WebhookName = "binding.webhook." + samples.GroupName

// Bindable is whether a kind may have a shape at all. Of Kubernetes' own kinds it is known which have; of every other one it
// shows when its objects are read.
func Bindable(kind schema.GroupKind, ofKubernetes bool) bool {
	return !ofKubernetes || builtIn.Has(kind)
}

// ShapeOf returns the shape of a kind, by the labels of its CustomResourceDefinition, if it has one. What nothing else is
// known of is taken for a PodTemplate; whether it is one shows when its objects are read.
func ShapeOf(kind schema.GroupKind, definition map[string]string) Shape {
	switch {
	case kind == cronJobs:
		return CronJob
	case definition[v1alpha1.ConfigurableLabelKey] == "true":
		return Configurable
	default:
		return PodTemplate
	}
}

// New returns an empty object of the duck type, to read another into.
func (s Shape) New() Object {
	switch s {
	case CronJob:
		return &duckv1.CronJob{}
	case Configurable:
		return &v1alpha1.ConfigurableType{}
	default:
		return &duckv1.WithPod{}
	}
}

// RoleLabelKey is the label that, with the value "true", makes a ClusterRole one of those that let the operator bind objects of
// the shape; see config/200-controller-roles.yaml.
func (s Shape) RoleLabelKey() string {
	if s == Configurable {
		return v1alpha1.ConfigurableLabelKey
	}
	return "duck.knative.dev/podspecable"
}

// Immutable is whether the API server refuses to change the variables of an object of the kind, so that it gets them when it
// is created or never.
func Immutable(kind schema.GroupKind) bool {
	return kind == jobs
}
