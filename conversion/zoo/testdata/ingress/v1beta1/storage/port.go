/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	v1storage "example.com/ingress/v1/storage"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// portUp divides a port into its name and its number, of which one is set.
func portUp(port *intstr.IntOrString) *v1storage.ServiceBackendPort {
	if port.Type == intstr.String {
		return &v1storage.ServiceBackendPort{Name: new(port.StrVal)}
	}
	return &v1storage.ServiceBackendPort{Number: new(port.IntVal)}
}

// portDown returns the name, or the number of a port that has none.
func portDown(port *v1storage.ServiceBackendPort) *intstr.IntOrString {
	switch {
	case port.Name != nil:
		return new(intstr.FromString(*port.Name))
	case port.Number != nil:
		return new(intstr.FromInt32(*port.Number))
	default:
		return nil
	}
}
