/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

// Shape is the place of environment variables in the objects of a kind. Each has its duck type.
type Shape int

const (
	// PodTemplate objects have a Pod template at spec.template. They are read as a duckv1.WithPod.
	PodTemplate Shape = iota
	// CronJob objects have one at spec.jobTemplate.spec.template. They are read as a duckv1.CronJob.
	CronJob
	// Configurable objects take variables at spec.configurable.env. They are read as a v1alpha1.ConfigurableType.
	Configurable
	// JobTemplate objects are Jobs, which have a Pod template at spec.template and may be finished. They are read as a Job.
	JobTemplate
)

// Shapes are all shapes.
var Shapes = []Shape{PodTemplate, CronJob, Configurable, JobTemplate}

// Object is an object of any kind, read as the duck type of its shape.
type Object interface {
	kmeta.Accessor
	apis.Listable
}

var (
	_ Object = (*duckv1.WithPod)(nil)
	_ Object = (*duckv1.CronJob)(nil)
	_ Object = (*v1alpha1.ConfigurableType)(nil)
	_ Object = (*Job)(nil)
)

var (
	cronJobs = schema.GroupKind{Group: "batch", Kind: "CronJob"}
	jobs     = schema.GroupKind{Group: "batch", Kind: "Job"}
)

// builtIn are the kinds of Kubernetes that can be bound. ReplicaSets and ReplicationControllers are not among them: they are made by
// Deployments and the like, which take one whose template was changed for a hash collision and make another, endlessly.
var builtIn = sets.New(
	jobs,
	cronJobs,
	schema.GroupKind{Group: "apps", Kind: "Deployment"},
	schema.GroupKind{Group: "apps", Kind: "StatefulSet"},
	schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
)

// FieldManager is the field manager of the controller's patches. The webhook admits them unchanged: the bindings that it knows may be
// older than those that the controller decided on.
const FieldManager = "addressbinding." + samples.GroupName

// WebhookName is the name of the MutatingWebhookConfiguration of bindings. The webhook writes its rules, and the controller reads them.
const WebhookName = "binding.webhook." + samples.GroupName

// Bindable reports whether objects of a kind may have a shape. Those of Kubernetes that do are known; whether others do shows when their
// objects are read.
func Bindable(kind schema.GroupKind, ofKubernetes bool) bool {
	return !ofKubernetes || builtIn.Has(kind)
}

// ShapeOf returns the shape of a kind, by the labels of its CustomResourceDefinition, if it has one. What nothing else is
// known of is taken for a PodTemplate; whether it is one shows when its objects are read.
func ShapeOf(kind schema.GroupKind, crdLabels map[string]string) Shape {
	switch {
	case kind == cronJobs:
		return CronJob
	case kind == jobs:
		return JobTemplate
	case crdLabels[v1alpha1.ConfigurableLabelKey] == "true":
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
	case JobTemplate:
		return &Job{}
	default:
		return &duckv1.WithPod{}
	}
}

// RoleLabelKey is the label that, with the value "true", makes a ClusterRole one of those that let the operator bind objects of
// the shape; see config/200-addressbinding-roles.yaml.
func (s Shape) RoleLabelKey() string {
	if s == Configurable {
		return v1alpha1.ConfigurableLabelKey
	}
	return "duck.knative.dev/podspecable"
}

// Immutable reports whether the API server rejects changes of the variables of existing objects of a kind.
func Immutable(kind schema.GroupKind) bool {
	return kind == jobs
}

// Job is the duck type of Jobs: a duckv1.WithPod that also shows whether it has finished.
type Job struct {
	duckv1.WithPod `json:",inline"`

	Status batchv1.JobStatus `json:"status"`
}

// DeepCopyObject implements runtime.Object.
func (j *Job) DeepCopyObject() runtime.Object {
	return &Job{WithPod: *j.DeepCopy(), Status: *j.Status.DeepCopy()}
}

// Finished reports whether an object is a Job that has completed or failed, so that nothing is going to run with its variables.
func Finished(object any) bool {
	job, ok := object.(*Job)
	return ok && slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}
