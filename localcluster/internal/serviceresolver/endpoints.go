/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package serviceresolver

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

// Endpoints finds the Pods behind Services.
type Endpoints struct {
	// Slices are the EndpointSlices of the cluster. They may still be filling.
	Slices discoverylisters.EndpointSliceLister
	// Local returns the address on this machine of a port of the Pod with an address.
	Local func(ip string, port int32) (address string, ok bool)
}

// address returns the address of a port at any of the ready Pods of a Service.
func (e *Endpoints) address(svc *corev1.Service, port int32) (string, error) {
	name, err := portName(svc, port)
	if err != nil {
		return "", err
	}
	slices, err := e.Slices.EndpointSlices(svc.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: svc.Name}))
	if err != nil {
		return "", fmt.Errorf("reading the endpoints of service %s/%s: %w", svc.Namespace, svc.Name, err)
	}
	var found []string
	ready := 0
	for _, slice := range slices {
		for _, target := range slice.Ports {
			if target.Port == nil || target.Name == nil || *target.Name != name {
				continue
			}
			for _, one := range slice.Endpoints {
				if one.Conditions.Ready != nil && !*one.Conditions.Ready || len(one.Addresses) == 0 {
					continue
				}
				ready++
				if address, ok := e.Local(one.Addresses[0], *target.Port); ok {
					found = append(found, address)
				}
			}
		}
	}
	switch {
	case len(found) > 0:
		return found[rand.IntN(len(found))], nil //nolint:gosec // no secret: it only spreads connections
	case ready > 0:
		return "", fmt.Errorf("the endpoints of service %s/%s are Pods that do not run on this machine", svc.Namespace, svc.Name)
	default:
		return "", fmt.Errorf("no endpoints available for service %q", svc.Namespace+"/"+svc.Name)
	}
}

func portName(svc *corev1.Service, port int32) (string, error) {
	for _, p := range svc.Spec.Ports {
		if p.Port == port {
			return p.Name, nil
		}
	}
	return "", fmt.Errorf("no service port %d found for service %q", port, svc.Namespace+"/"+svc.Name)
}
