/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// environment resolves what a container declares for one start of its process.
type environment struct {
	kube      kubernetes.Interface
	namespace string
	// fields are the values of the Pod that fieldRef may select, by field path.
	fields map[string]string
	// ports are the local ports by containerPort.
	ports map[int32]int
}

// resolve returns the variables of a container by name. Errors name the field that cannot be honored, or the object or
// key that is missing.
func (e *environment) resolve(ctx context.Context, c *corev1.Container, path *field.Path) (map[string]string, error) {
	variables := map[string]string{}
	for i, source := range c.EnvFrom {
		values, err := e.from(ctx, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path.Child("envFrom").Index(i), err)
		}
		for key, value := range values {
			variables[source.Prefix+key] = value
		}
	}
	for i, variable := range c.Env {
		value, ok, err := e.value(ctx, variable, variables, c.Resources.Limits)
		if err != nil {
			return nil, fmt.Errorf("%s (%s): %w", path.Child("env").Index(i), variable.Name, err)
		}
		if ok {
			variables[variable.Name] = e.local(value)
		}
	}
	return variables, e.everyPortIsTold(variables, c, path)
}

// local replaces a value that is the number of a containerPort by the local port.
func (e *environment) local(value string) string {
	number, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return value
	}
	if local, ok := e.ports[int32(number)]; ok {
		return strconv.Itoa(local)
	}
	return value
}

// everyPortIsTold rejects a port that the process would open under its own number: two operators on one machine would
// then fight for it, and the Service would lead nowhere.
func (e *environment) everyPortIsTold(variables map[string]string, c *corev1.Container, path *field.Path) error {
	values := slices.Collect(maps.Values(variables))
	var problems field.ErrorList
	for i, port := range c.Ports {
		if !slices.Contains(values, strconv.Itoa(e.ports[port.ContainerPort])) {
			problems = append(problems, field.Invalid(path.Child("ports").Index(i).Child("containerPort"), port.ContainerPort,
				"a local process gets another port, and no environment variable with this number passes it on"))
		}
	}
	return problems.ToAggregate()
}

// value returns the value of one entry of env; ok is false for an optional one that is absent.
func (e *environment) value(
	ctx context.Context, v corev1.EnvVar, known map[string]string, limits corev1.ResourceList,
) (value string, ok bool, err error) {
	if v.ValueFrom == nil {
		return expand(v.Value, known), true, nil
	}
	switch source := v.ValueFrom; {
	case source.FieldRef != nil:
		value, ok := e.fields[source.FieldRef.FieldPath]
		if !ok {
			return "", false, fmt.Errorf("valueFrom.fieldRef.fieldPath %q is not known of a local process", source.FieldRef.FieldPath)
		}
		return value, true, nil
	case source.ConfigMapKeyRef != nil:
		ref := source.ConfigMapKeyRef
		values, err := e.configMap(ctx, ref.Name, ref.Optional)
		if err != nil {
			return "", false, err
		}
		return key(values, ref.Key, ref.Optional, "ConfigMap "+ref.Name)
	case source.SecretKeyRef != nil:
		ref := source.SecretKeyRef
		values, err := e.secret(ctx, ref.Name, ref.Optional)
		if err != nil {
			return "", false, err
		}
		return key(values, ref.Key, ref.Optional, "secret "+ref.Name)
	case source.ResourceFieldRef != nil:
		name, _ := strings.CutPrefix(source.ResourceFieldRef.Resource, "limits.")
		limit, ok := limits[corev1.ResourceName(name)]
		if !ok {
			return "", false, fmt.Errorf("valueFrom.resourceFieldRef.resource %q is not a limit of the container", source.ResourceFieldRef.Resource)
		}
		return strconv.FormatInt(limit.Value(), 10), true, nil
	default:
		return "", false, errors.New("valueFrom: must be fieldRef, resourceFieldRef, configMapKeyRef or secretKeyRef for a local process")
	}
}

func (e *environment) from(ctx context.Context, source corev1.EnvFromSource) (map[string]string, error) {
	switch {
	case source.ConfigMapRef != nil:
		return e.configMap(ctx, source.ConfigMapRef.Name, source.ConfigMapRef.Optional)
	case source.SecretRef != nil:
		return e.secret(ctx, source.SecretRef.Name, source.SecretRef.Optional)
	default:
		return nil, errors.New("must be configMapRef or secretRef")
	}
}

func (e *environment) configMap(ctx context.Context, name string, optional *bool) (map[string]string, error) {
	object, err := e.kube.CoreV1().ConfigMaps(e.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, missing(err, optional, "ConfigMap "+e.namespace+"/"+name)
	}
	return object.Data, nil
}

func (e *environment) secret(ctx context.Context, name string, optional *bool) (map[string]string, error) {
	object, err := e.kube.CoreV1().Secrets(e.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, missing(err, optional, "secret "+e.namespace+"/"+name)
	}
	values := make(map[string]string, len(object.Data))
	for key, value := range object.Data {
		values[key] = string(value)
	}
	return values, nil
}

// missing is nil if it is an optional object that does not exist.
func missing(err error, optional *bool, what string) error {
	if ptr.Deref(optional, false) && apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("reading %s: %w", what, err)
}

func key(values map[string]string, name string, optional *bool, where string) (string, bool, error) {
	value, ok := values[name]
	if !ok && !ptr.Deref(optional, false) {
		return "", false, fmt.Errorf("%s has no key %q", where, name)
	}
	return value, ok, nil
}

// podFields are the values that fieldRef may select, by field path.
func podFields(pod metav1.ObjectMeta, serviceAccount string) map[string]string {
	fields := map[string]string{
		"metadata.name":           pod.Name,
		"metadata.namespace":      pod.Namespace,
		"metadata.uid":            string(pod.UID),
		"metadata.labels":         quoted(pod.Labels),
		"metadata.annotations":    quoted(pod.Annotations),
		"spec.nodeName":           nodeName,
		"spec.serviceAccountName": serviceAccount,
		"status.hostIP":           loopback,
		"status.hostIPs":          loopback,
		"status.podIP":            loopback,
		"status.podIPs":           loopback,
	}
	for key, value := range pod.Labels {
		fields["metadata.labels['"+key+"']"] = value
	}
	for key, value := range pod.Annotations {
		fields["metadata.annotations['"+key+"']"] = value
	}
	return fields
}

// quoted is the form in which Kubernetes gives a whole map of labels: sorted lines of key="value".
func quoted(values map[string]string) string {
	lines := make([]string, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, key+"="+strconv.Quote(values[key]))
	}
	return strings.Join(lines, "\n")
}

var reference = regexp.MustCompile(`\$\$|\$\([^)]*\)`)

// expand replaces $(NAME) as Kubernetes does in env and args: an unknown name stays as it is written, and $$ is a plain $.
func expand(text string, known map[string]string) string {
	return reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := known[found[len("$("):len(found)-len(")")]]; ok {
			return value
		}
		return found
	})
}
