/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"github.com/mallard-dev/mallard/conversion"
)

// Between v1 and its storage types, as in v1/zz_generated.conversion.go.

var properties = conversion.Annotation{Name: annotation, Hub: true, Retired: []string{"v1alpha0"}}

func portKey(in *port) string { return conversion.Key(in.Name) }

// AssignProperties_To_Widget copies the object to its storage type.
func (in *widget) AssignProperties_To_Widget(dst *widgetStorage) error {
	from := properties.Load(&dst.ObjectMeta, &in.ObjectMeta)
	dst.PropertyBag = from.Bag()
	dst.Spec = &widgetSpecStorage{}
	in.Spec.assignTo(dst.Spec, from.Field("spec"))
	return nil
}

// AssignProperties_From_Widget fills the object from its storage type.
func (in *widget) AssignProperties_From_Widget(src *widgetStorage) error {
	to := conversion.NewWriter()
	to.SetBag(src.PropertyBag)
	in.Spec = widgetSpec{}
	if src.Spec != nil {
		in.Spec.assignFrom(src.Spec, to.Field("spec"))
	}
	properties.Store(&in.ObjectMeta, &src.ObjectMeta, to)
	return nil
}

func (in *widgetSpec) assignTo(dst *widgetSpecStorage, from conversion.Reader) {
	dst.PropertyBag = from.Bag()
	if in.Headers != nil {
		dst.Headers = make(map[string]headerStorage, len(in.Headers))
		headers := from.Field("headers")
		for key, value := range in.Headers {
			at := headers.Key(key)
			dst.Headers[key] = headerStorage{
				Value:       conversion.RequiredPointer(at, "value", value.Value),
				Overwrite:   conversion.Pointer(value.Overwrite),
				PropertyBag: at.Bag(),
			}
		}
	}
	dst.Path = conversion.Pointer(in.Path)
	if in.Ports != nil {
		dst.Ports = make([]portStorage, len(in.Ports))
		ports := conversion.ReadList(from.Field("ports"), in.Ports, portKey)
		for i := range in.Ports {
			dst.Ports[i] = portStorage{
				Name:        conversion.RequiredPointer(ports.At(i), "name", in.Ports[i].Name),
				Port:        conversion.Pointer(in.Ports[i].Port),
				AppProtocol: conversion.Pointer(in.Ports[i].AppProtocol),
				PropertyBag: ports.At(i).Bag(),
			}
		}
	}
	if in.Probe != nil {
		at := from.Field("probe")
		dst.Probe = &probeStorage{
			Path:        conversion.RequiredPointer(at, "path", in.Probe.Path),
			Period:      conversion.Pointer(in.Probe.Period),
			PropertyBag: at.Bag(),
		}
	}
	if in.Ref != nil {
		at := from.Field("ref")
		dst.Ref = &referenceStorage{
			Kind:        conversion.RequiredPointer(at, "kind", in.Ref.Kind),
			Name:        conversion.RequiredPointer(at, "name", in.Ref.Name),
			PropertyBag: at.Bag(),
		}
	}
	if in.Retries != nil {
		dst.Retries = &retriesStorage{
			Attempts:    conversion.Pointer(in.Retries.Attempts),
			Backoff:     conversion.Pointer(in.Retries.Backoff),
			PropertyBag: from.Field("retries").Bag(),
		}
	}
	if in.Rewrites != nil {
		dst.Rewrites = make([]rewriteStorage, len(in.Rewrites))
		rewrites := conversion.ReadList(from.Field("rewrites"), in.Rewrites, nil)
		for i := range in.Rewrites {
			dst.Rewrites[i] = rewriteStorage{
				From:        conversion.RequiredPointer(rewrites.At(i), "from", in.Rewrites[i].From),
				To:          conversion.RequiredPointer(rewrites.At(i), "to", in.Rewrites[i].To),
				Code:        conversion.Pointer(in.Rewrites[i].Code),
				PropertyBag: rewrites.At(i).Bag(),
			}
		}
	}
}

func (in *widgetSpec) assignFrom(src *widgetSpecStorage, to conversion.Writer) {
	to.SetBag(src.PropertyBag)
	if src.Headers != nil {
		in.Headers = make(map[string]header, len(src.Headers))
		headers := to.Field("headers")
		for key, value := range src.Headers {
			at := headers.Key(key)
			at.SetBag(value.PropertyBag)
			in.Headers[key] = header{
				Value:     conversion.RequiredValue(at, "value", value.Value),
				Overwrite: conversion.Pointer(value.Overwrite),
			}
		}
	}
	in.Path = conversion.Pointer(src.Path)
	if src.Ports != nil {
		in.Ports = make([]port, len(src.Ports))
		ports := conversion.WriteList(to.Field("ports"), in.Ports, portKey)
		for i := range src.Ports {
			at := ports.At(i)
			at.SetBag(src.Ports[i].PropertyBag)
			in.Ports[i] = port{
				Name:        conversion.RequiredValue(at, "name", src.Ports[i].Name),
				Port:        conversion.Pointer(src.Ports[i].Port),
				AppProtocol: conversion.Pointer(src.Ports[i].AppProtocol),
			}
		}
	}
	if src.Probe != nil {
		at := to.Field("probe")
		at.SetBag(src.Probe.PropertyBag)
		in.Probe = &probe{
			Path:   conversion.RequiredValue(at, "path", src.Probe.Path),
			Period: conversion.Pointer(src.Probe.Period),
		}
	}
	if src.Ref != nil {
		at := to.Field("ref")
		at.SetBag(src.Ref.PropertyBag)
		in.Ref = &reference{
			Kind: conversion.RequiredValue(at, "kind", src.Ref.Kind),
			Name: conversion.RequiredValue(at, "name", src.Ref.Name),
		}
	}
	if src.Retries != nil {
		to.Field("retries").SetBag(src.Retries.PropertyBag)
		in.Retries = &retries{
			Attempts: conversion.Pointer(src.Retries.Attempts),
			Backoff:  conversion.Pointer(src.Retries.Backoff),
		}
	}
	if src.Rewrites != nil {
		in.Rewrites = make([]rewrite, len(src.Rewrites))
		rewrites := conversion.WriteList(to.Field("rewrites"), in.Rewrites, nil)
		for i := range src.Rewrites {
			at := rewrites.At(i)
			at.SetBag(src.Rewrites[i].PropertyBag)
			in.Rewrites[i] = rewrite{
				From: conversion.RequiredValue(at, "from", src.Rewrites[i].From),
				To:   conversion.RequiredValue(at, "to", src.Rewrites[i].To),
				Code: conversion.Pointer(src.Rewrites[i].Code),
			}
		}
	}
}
