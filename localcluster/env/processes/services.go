/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

// EndpointsAnnotation holds the addresses of the ports of a Service, for the API server of the local control plane: pairs of service
// port and address, such as "443=127.0.0.1:41234 9090=127.0.0.1:41235".
const EndpointsAnnotation = "localcluster.mallard.dev/endpoints"

// backend is a running process as a Service sees it.
type backend struct {
	namespace string
	labels    map[string]string
	declared  []corev1.ContainerPort
	local     map[int32]int
	ready     bool
}

// announce writes the addresses of the backends to every Service that selects one of them in the namespace. The first
// backend that is ready wins, and without any the first.
func announce(ctx context.Context, kube kubernetes.Interface, namespace string, backends []backend) error {
	services, err := kube.CoreV1().Services(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("listing the services of namespace %s: %w", namespace, err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		selected := selectedBy(service, backends)
		if len(selected) == 0 {
			continue
		}
		endpoints, err := endpoints(service, selected)
		if err != nil {
			return err
		}
		if service.Annotations[EndpointsAnnotation] == endpoints {
			continue
		}
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"annotations": map[string]string{EndpointsAnnotation: endpoints},
		}})
		if err != nil {
			return fmt.Errorf("writing the annotation of service %s/%s: %w", service.Namespace, service.Name, err)
		}
		_, err = kube.CoreV1().Services(namespace).Patch(ctx, service.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if err != nil {
			return fmt.Errorf("annotating service %s/%s with the address of its process: %w", service.Namespace, service.Name, err)
		}
	}
	return nil
}

// Published returns the host:port at which the process of a Deployment serves a named port, by the Service that has a port of that name. It finds
// the processes of other programs, too.
func Published(ctx context.Context, kube kubernetes.Interface, deployment types.NamespacedName, port string) (string, error) {
	found, err := kube.AppsV1().Deployments(deployment.Namespace).Get(ctx, deployment.Name, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("reading deployment %s: %w", deployment, err)
	}
	services, err := kube.CoreV1().Services(deployment.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", fmt.Errorf("listing the services of namespace %s: %w", deployment.Namespace, err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		if len(service.Spec.Selector) == 0 || !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(found.Spec.Template.Labels)) {
			continue
		}
		for _, p := range service.Spec.Ports {
			for pair := range strings.FieldsSeq(service.Annotations[EndpointsAnnotation]) {
				if number, address, _ := strings.Cut(pair, "="); p.Name == port && number == strconv.Itoa(int(p.Port)) {
					return address, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no service of deployment %s has a port named %s that a process serves", deployment, port)
}

// selectedBy returns the backends of a Service, those first that are ready.
func selectedBy(service *corev1.Service, backends []backend) []backend {
	if len(service.Spec.Selector) == 0 {
		return nil
	}
	selector := labels.SelectorFromSet(service.Spec.Selector)
	var ready, others []backend
	for _, b := range backends {
		switch {
		case b.namespace != service.Namespace || !selector.Matches(labels.Set(b.labels)):
		case b.ready:
			ready = append(ready, b)
		default:
			others = append(others, b)
		}
	}
	return append(ready, others...)
}

// endpoints is the value of the annotation.
func endpoints(service *corev1.Service, selected []backend) (string, error) {
	var pairs []string
	for i, port := range service.Spec.Ports {
		target := port.TargetPort
		if target == (intstr.IntOrString{}) {
			target = intstr.FromInt32(port.Port)
		}
		local, ok := 0, false
		for _, b := range selected {
			var number int32
			if number, ok = containerPort(target, b.declared); ok {
				local = b.local[number]
				break
			}
		}
		if !ok {
			return "", fmt.Errorf("service %s/%s: spec.ports[%d].targetPort: no container that it selects declares port %s",
				service.Namespace, service.Name, i, target.String())
		}
		pairs = append(pairs, strconv.Itoa(int(port.Port))+"="+net.JoinHostPort(loopback, strconv.Itoa(local)))
	}
	return strings.Join(pairs, " "), nil
}
