/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

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

// Object is an object of any kind, read as the duck type of its shape.
type Object interface {
	kmeta.Accessor
	apis.Listable
}

var jobs = schema.GroupKind{Group: "batch", Kind: "Job"}

// BuiltIn are the kinds of Kubernetes that can be bound. ReplicaSets and ReplicationControllers are not among them: they are made by
// Deployments and the like, which take one whose template was changed for a hash collision and make another, endlessly.
var BuiltIn = map[schema.GroupKind]Shape{
	jobs: JobTemplate, {Group: "batch", Kind: "CronJob"}: CronJob,
	{Group: "apps", Kind: "Deployment"}: PodTemplate, {Group: "apps", Kind: "StatefulSet"}: PodTemplate, {Group: "apps", Kind: "DaemonSet"}: PodTemplate,
}

const (
	// FieldManager is the field manager of the controller's patches. The webhook admits them unchanged: the bindings that it knows may be
	// older than those that the controller decided on.
	FieldManager = "addressbinding." + samples.GroupName
	// WebhookName is the name of the MutatingWebhookConfiguration of bindings. The webhook writes its rules, and the controller reads them.
	WebhookName = "binding.webhook." + samples.GroupName
)

// ShapeOf returns the shape of a kind, by the labels of its CustomResourceDefinition, if it has one. What nothing else is
// known of is taken for a PodTemplate; whether it is one shows when its objects are read.
func ShapeOf(kind schema.GroupKind, crdLabels map[string]string) Shape {
	if shape, isKnown := BuiltIn[kind]; isKnown {
		return shape
	}
	if crdLabels[v1alpha1.ConfigurableLabelKey] == "true" {
		return Configurable
	}
	return PodTemplate
}

// WithoutSchemas returns a transformation of CRDs for caches: memory must not depend on the schemas of other operators. Those of groups that are ours
// stay as they are, because the conversion webhook updates them as they are in the cache.
func WithoutSchemas(isOurs func(group string) bool) cache.TransformFunc {
	return func(obj any) (any, error) {
		if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok && !isOurs(crd.Spec.Group) {
			crd.ManagedFields, crd.Annotations = nil, nil
			for i := range crd.Spec.Versions {
				crd.Spec.Versions[i].Schema = nil
			}
		}
		return obj, nil
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
func Immutable(kind schema.GroupKind) bool { return kind == jobs }

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

// Environment is one list of variables of an object.
type Environment struct {
	// Container has the variables. It is empty for an object that is Configurable, whose variables are for all of them, and for
	// a container without a name, which kinds of others may have.
	Container string
	// Variables in their order. They must not be changed.
	Variables []corev1.EnvVar

	// path is the JSON pointer of the list, and holder that of the object that contains the list if that is missing, too.
	path, holder string
}

// Has reports whether a variable has that value, rather than a reference to one.
func (e *Environment) Has(name, value string) bool {
	return slices.ContainsFunc(e.Variables, func(v corev1.EnvVar) bool { return v.ValueFrom == nil && v.Name == name && v.Value == value })
}

// Environments returns the lists of variables of an object: one for each container and init container, or the one of an
// object that is Configurable. An object without any is neither.
func Environments(object Object) []Environment {
	switch object := object.(type) {
	case *Job:
		return Environments(&object.WithPod)
	case *duckv1.WithPod:
		return ofTemplate("/spec/template/spec", &object.Spec.Template.Spec)
	case *duckv1.CronJob:
		return ofTemplate("/spec/jobTemplate/spec/template/spec", &object.Spec.JobTemplate.Spec.Template.Spec)
	case *v1alpha1.ConfigurableType:
		const holder = "/spec/configurable"
		if object.Spec.Configurable == nil {
			return []Environment{{path: holder + "/env", holder: holder}}
		}
		environment := Environment{path: holder + "/env"}
		for _, v := range object.Spec.Configurable.Env {
			environment.Variables = append(environment.Variables, corev1.EnvVar{Name: v.Name, Value: v.Value})
		}
		return []Environment{environment}
	default: // a mistake of the program: objects are made by Shape.New
		panic(fmt.Sprintf("%T is the duck type of no shape", object))
	}
}

func ofTemplate(path string, spec *corev1.PodSpec) (environments []Environment) {
	add := func(field string, containers []corev1.Container) {
		for i := range containers {
			environments = append(environments,
				Environment{Container: containers[i].Name, Variables: containers[i].Env, path: fmt.Sprintf("%s/%s/%d/env", path, field, i)})
		}
	}
	add("initContainers", spec.InitContainers)
	add("containers", spec.Containers)
	return environments
}
