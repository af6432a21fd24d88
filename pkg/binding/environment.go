/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/duck/v1alpha1"
)

// Environment is one list of variables of an object.
type Environment struct {
	// Container has the variables. It is empty for an object that is Configurable, whose variables are for all of them, and for
	// a container without a name, which kinds of others may have.
	Container string
	// Variables in their order. They must not be changed.
	Variables []corev1.EnvVar

	// path is the JSON pointer of the list.
	path string
	// holder is the path of the object that contains only the list, so that both are added and removed together. It is empty if there is
	// no such thing.
	holder string
	// held reports whether holder exists.
	held bool
	// name is the JSON pointer of the container's name. It is empty if there is no container.
	name string
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
		return ofTemplate("/spec/template/spec", &object.Spec.Template.Spec)
	case *duckv1.WithPod:
		return ofTemplate("/spec/template/spec", &object.Spec.Template.Spec)
	case *duckv1.CronJob:
		return ofTemplate("/spec/jobTemplate/spec/template/spec", &object.Spec.JobTemplate.Spec.Template.Spec)
	case *v1alpha1.ConfigurableType:
		return []Environment{ofConfigurable(object.Spec.Configurable)}
	default:
		// A mistake of the program: objects are made by Shape.New.
		panic(fmt.Sprintf("%T is the duck type of no shape", object))
	}
}

func ofTemplate(path string, spec *corev1.PodSpec) []Environment {
	environments := make([]Environment, 0, len(spec.InitContainers)+len(spec.Containers))
	for _, list := range []struct {
		field      string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i := range list.containers {
			container := fmt.Sprintf("%s/%s/%d", path, list.field, i)
			environments = append(environments, Environment{
				Container: list.containers[i].Name,
				Variables: list.containers[i].Env,
				path:      container + "/env",
				name:      container + "/name",
			})
		}
	}
	return environments
}

func ofConfigurable(configurable *v1alpha1.Configurable) Environment {
	const holder = "/spec/configurable"
	environment := Environment{path: holder + "/env", holder: holder, held: configurable != nil}
	if configurable == nil {
		return environment
	}
	if configurable.Env != nil {
		environment.Variables = make([]corev1.EnvVar, len(configurable.Env))
	}
	for i, variable := range configurable.Env {
		environment.Variables[i] = corev1.EnvVar{Name: variable.Name, Value: variable.Value}
	}
	return environment
}
