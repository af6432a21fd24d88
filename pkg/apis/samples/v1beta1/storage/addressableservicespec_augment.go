/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package storage

import (
	"slices"

	"github.com/mallard-dev/mallard/conversion"
	v1storage "github.com/mallard-dev/mallard/pkg/apis/samples/v1/storage"
)

// portName is the name of the port's address at v1, where each has to have a name. It is seen at v1 only, and
// leads nowhere, for the port has a number.
const portName = "port"

// AssignPropertiesTo makes the port the first of v1's. Nothing changes of the ports that this version cannot show, nor of
// the first one's name and protocol. A port that is taken away takes its number along.
func (in *AddressableServiceSpec) AssignPropertiesTo(dst *v1storage.AddressableServiceSpec) error {
	var ports []v1storage.AddressPort
	dst.PropertyBag.Take(bagV1Ports, &ports)
	switch {
	case len(ports) > 0:
		ports[0].Port = conversion.Pointer(in.Port)
	case in.Port != nil:
		ports = []v1storage.AddressPort{{Name: new(portName), Port: conversion.Pointer(in.Port)}}
	}
	dst.Ports = ports
	return nil
}

// AssignPropertiesFrom shows the number of the first port. The rest is stashed without that number: what can be seen
// is never taken from the stash. So the stash cannot be out of date, and needs no basis.
func (in *AddressableServiceSpec) AssignPropertiesFrom(src *v1storage.AddressableServiceSpec) error {
	in.PropertyBag.Remove(bagV1Ports)
	ports := slices.Clone(src.Ports)
	if len(ports) > 0 {
		in.Port = conversion.Pointer(ports[0].Port)
		if len(ports) == 1 && isNumber(ports[0]) {
			return nil
		}
		ports[0].Port = nil
	}
	return in.PropertyBag.Put(bagV1Ports, ports)
}

// isNumber reports whether its number represents all of a port.
func isNumber(port v1storage.AddressPort) bool {
	return port.Port != nil && port.Name != nil && *port.Name == portName && port.AppProtocol == nil && len(port.PropertyBag) == 0
}
