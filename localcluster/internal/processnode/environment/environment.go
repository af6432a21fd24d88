/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package environment

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	resourcehelper "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	"k8s.io/utils/ptr"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/ports"
)

// Resolver resolves the variables of the containers of one Pod.
type Resolver struct {
	Client kubernetes.Interface
	// Pod is the Pod as the API server has it, PodIP and NodeIP what its status will say.
	Pod           *corev1.Pod
	PodIP, NodeIP string
	// Allocatable stands in for limits that a container does not have.
	Allocatable corev1.ResourceList
	// Ports are the local ports by declared port.
	Ports map[int32]int
	// Base are the variables that a container has in addition to its own, which win.
	Base map[string]string
}

// Variables returns the environment of a container by name. Errors are those of a kubelet.
func (r *Resolver) Variables(ctx context.Context, c *corev1.Container) (map[string]string, error) {
	known := map[string]string{}
	for _, source := range c.EnvFrom {
		values, err := r.from(ctx, source)
		if err != nil {
			return nil, err
		}
		for key, value := range values {
			known[source.Prefix+key] = value
		}
	}
	lookup := expansion.MappingFuncFor(known, r.Base)
	for _, variable := range c.Env {
		value, ok, err := r.value(ctx, c, variable, lookup)
		if err != nil {
			return nil, err
		}
		if ok {
			known[variable.Name] = ports.Rewrite(value, r.Ports)
		}
	}
	all := maps.Clone(r.Base)
	maps.Copy(all, known)
	return all, nil
}

// Expand replaces $(NAME) in a command or arguments.
func Expand(texts []string, variables map[string]string) []string {
	lookup := expansion.MappingFuncFor(variables)
	expanded := make([]string, 0, len(texts))
	for _, text := range texts {
		expanded = append(expanded, expansion.Expand(text, lookup))
	}
	return expanded
}

// List returns variables in the form that a process gets, in a fixed order.
func List(variables map[string]string) []string {
	list := make([]string, 0, len(variables))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		list = append(list, name+"="+variables[name])
	}
	return list
}

func (r *Resolver) value(ctx context.Context, c *corev1.Container, v corev1.EnvVar, lookup func(string) string) (string, bool, error) {
	if v.ValueFrom == nil {
		return expansion.Expand(v.Value, lookup), true, nil
	}
	switch source := v.ValueFrom; {
	case source.FieldRef != nil:
		value, err := Field(r.Pod, source.FieldRef.FieldPath, r.PodIP, r.NodeIP)
		return value, err == nil, err
	case source.ResourceFieldRef != nil:
		value, err := Resource(r.Pod, source.ResourceFieldRef, c.Name, r.Allocatable)
		return value, err == nil, err
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		values, err := r.configMap(ctx, ref.Name, ptr.Deref(ref.Optional, false))
		if err != nil {
			return "", false, err
		}
		value, ok := values[ref.Key]
		if !ok && !ptr.Deref(ref.Optional, false) {
			return "", false, fmt.Errorf("couldn't find key %v in ConfigMap %v/%v", ref.Key, r.Pod.Namespace, ref.Name)
		}
		return value, ok, nil
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		values, err := r.secret(ctx, ref.Name, ptr.Deref(ref.Optional, false))
		if err != nil {
			return "", false, err
		}
		value, ok := values[ref.Key]
		if !ok && !ptr.Deref(ref.Optional, false) {
			return "", false, fmt.Errorf("couldn't find key %v in Secret %v/%v", ref.Key, r.Pod.Namespace, ref.Name)
		}
		return value, ok, nil
	default:
		return "", false, fmt.Errorf("env %s: this source of a value is not known on this Node: use fieldRef, resourceFieldRef, "+
			"configMapKeyRef or secretKeyRef", v.Name)
	}
}

func (r *Resolver) from(ctx context.Context, source corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case source.ConfigMapRef != nil:
		return r.configMap(ctx, source.ConfigMapRef.Name, ptr.Deref(source.ConfigMapRef.Optional, false))
	case source.SecretRef != nil:
		return r.secret(ctx, source.SecretRef.Name, ptr.Deref(source.SecretRef.Optional, false))
	default:
		return map[string]string{}, nil
	}
}

func (r *Resolver) configMap(ctx context.Context, name string, optional bool) (map[string]string, error) {
	found, err := r.Client.CoreV1().ConfigMaps(r.Pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if optional && apierrors.IsNotFound(err) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, missing(err, "configmap", name)
	}
	return found.Data, nil
}

func (r *Resolver) secret(ctx context.Context, name string, optional bool) (map[string]string, error) {
	found, err := r.Client.CoreV1().Secrets(r.Pod.Namespace).Get(ctx, name, metav1.GetOptions{})
	if optional && apierrors.IsNotFound(err) {
		return map[string]string{}, nil
	}
	if err != nil {
		return nil, missing(err, "secret", name)
	}
	values := make(map[string]string, len(found.Data))
	for key, value := range found.Data {
		values[key] = string(value)
	}
	return values, nil
}

// missing reports that an object does not exist in the words of a kubelet, whose errors come from its cache.
func missing(err error, kind, name string) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %q not found", kind, name)
	}
	return fmt.Errorf("reading %s %q: %w", kind, name, err)
}

// Field returns the value of a field of a Pod that variables and files may refer to.
func Field(pod *corev1.Pod, path, podIP, nodeIP string) (string, error) {
	switch path {
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.hostIP", "status.hostIPs":
		return nodeIP, nil
	case "status.podIP", "status.podIPs":
		return podIP, nil
	}
	value, err := fieldpath.ExtractFieldPathAsString(pod, path)
	if err != nil {
		return "", fmt.Errorf("field %s: %w", path, err)
	}
	return value, nil
}

// Resource returns the value of a request or limit of a container.
func Resource(pod *corev1.Pod, ref *corev1.ResourceFieldSelector, container string, allocatable corev1.ResourceList) (string, error) {
	name := cmp.Or(ref.ContainerName, container)
	value, err := resourcehelper.ExtractResourceValueByContainerNameAndNodeAllocatable(ref, pod, name, allocatable)
	if err != nil {
		return "", fmt.Errorf("resource %s of container %s: %w", ref.Resource, name, err)
	}
	return value, nil
}
