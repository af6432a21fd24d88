/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"github.com/mallard-dev/mallard/conversion"
)

// Between v1alpha1 and its storage types, as in v1alpha1/zz_generated.conversion.go.

const annotation = "conversion.example.com/properties"

var oldProperties = conversion.Annotation{Name: annotation, Retired: []string{"v1alpha0"}}

func oldPortKey(in *oldPort) string { return conversion.Key(in.Name) }

// AssignProperties_To_Widget copies the object to its storage type.
func (in *oldWidget) AssignProperties_To_Widget(dst *oldWidgetStorage) error {
	from := oldProperties.Load(&dst.ObjectMeta, &in.ObjectMeta)
	dst.PropertyBag = from.Bag()
	dst.Spec = &oldWidgetSpecStorage{}
	return in.Spec.assignTo(dst.Spec, from.Field("spec"))
}

// AssignProperties_From_Widget fills the object from its storage type.
func (in *oldWidget) AssignProperties_From_Widget(src *oldWidgetStorage) error {
	to := conversion.NewWriter()
	to.SetBag(src.PropertyBag)
	in.Spec = oldWidgetSpec{}
	if src.Spec != nil {
		if err := in.Spec.assignFrom(src.Spec, to.Field("spec")); err != nil {
			return err
		}
	}
	oldProperties.Store(&in.ObjectMeta, &src.ObjectMeta, to)
	return nil
}

func (in *oldWidgetSpec) assignTo(dst *oldWidgetSpecStorage, from conversion.Reader) error {
	dst.PropertyBag = from.Bag()

	// Headers
	if in.Headers != nil {
		dst.Headers = make(map[string]oldHeaderStorage, len(in.Headers))
		headers := from.Field("headers")
		for key, value := range in.Headers {
			var converted oldHeaderStorage
			if err := value.assignTo(&converted, headers.Key(key)); err != nil {
				return err
			}
			dst.Headers[key] = converted
		}
	}

	// Path
	dst.Path = conversion.OptionalPointer(from, "path", in.Path)

	// Ports
	if in.Ports != nil {
		dst.Ports = make([]oldPortStorage, len(in.Ports))
		ports := conversion.ReadList(from.Field("ports"), in.Ports, oldPortKey)
		for i := range in.Ports {
			if err := in.Ports[i].assignTo(&dst.Ports[i], ports.At(i)); err != nil {
				return err
			}
		}
	}

	// Retries
	if in.Retries != nil {
		dst.Retries = &oldRetriesStorage{}
		if err := in.Retries.assignTo(dst.Retries, from.Field("retries")); err != nil {
			return err
		}
	}

	// Rewrites
	if in.Rewrites != nil {
		dst.Rewrites = make([]oldRewriteStorage, len(in.Rewrites))
		rewrites := conversion.ReadList(from.Field("rewrites"), in.Rewrites, nil)
		for i := range in.Rewrites {
			if err := in.Rewrites[i].assignTo(&dst.Rewrites[i], rewrites.At(i)); err != nil {
				return err
			}
		}
	}

	// ServiceName
	dst.ServiceName = conversion.RequiredPointer(from, "serviceName", in.ServiceName)

	// Template
	dst.Template = conversion.Pointer(in.Template)
	return nil
}

func (in *oldWidgetSpec) assignFrom(src *oldWidgetSpecStorage, to conversion.Writer) error {
	to.SetBag(src.PropertyBag)

	// Headers
	if src.Headers != nil {
		in.Headers = make(map[string]oldHeader, len(src.Headers))
		headers := to.Field("headers")
		for key, value := range src.Headers {
			var converted oldHeader
			if err := converted.assignFrom(&value, headers.Key(key)); err != nil {
				return err
			}
			in.Headers[key] = converted
		}
	}

	// Path
	in.Path = conversion.OptionalValue(to, "path", src.Path)

	// Ports
	if src.Ports != nil {
		in.Ports = make([]oldPort, len(src.Ports))
		ports := conversion.WriteList(to.Field("ports"), in.Ports, oldPortKey)
		for i := range src.Ports {
			if err := in.Ports[i].assignFrom(&src.Ports[i], ports.At(i)); err != nil {
				return err
			}
		}
	}

	// Retries
	if src.Retries != nil {
		in.Retries = &oldRetries{}
		if err := in.Retries.assignFrom(src.Retries, to.Field("retries")); err != nil {
			return err
		}
	}

	// Rewrites
	if src.Rewrites != nil {
		in.Rewrites = make([]oldRewrite, len(src.Rewrites))
		rewrites := conversion.WriteList(to.Field("rewrites"), in.Rewrites, nil)
		for i := range src.Rewrites {
			if err := in.Rewrites[i].assignFrom(&src.Rewrites[i], rewrites.At(i)); err != nil {
				return err
			}
		}
	}

	// ServiceName
	in.ServiceName = conversion.RequiredValue(to, "serviceName", src.ServiceName)

	// Template
	in.Template = conversion.Pointer(src.Template)
	return nil
}

func (in *oldHeader) assignTo(dst *oldHeaderStorage, from conversion.Reader) error {
	dst.PropertyBag = from.Bag()
	dst.Value = conversion.RequiredPointer(from, "value", in.Value)
	return nil
}

func (in *oldHeader) assignFrom(src *oldHeaderStorage, to conversion.Writer) error {
	to.SetBag(src.PropertyBag)
	in.Value = conversion.RequiredValue(to, "value", src.Value)
	return nil
}

func (in *oldRewrite) assignTo(dst *oldRewriteStorage, from conversion.Reader) error {
	dst.PropertyBag = from.Bag()
	dst.From = conversion.RequiredPointer(from, "from", in.From)
	dst.To = conversion.RequiredPointer(from, "to", in.To)
	return nil
}

func (in *oldRewrite) assignFrom(src *oldRewriteStorage, to conversion.Writer) error {
	to.SetBag(src.PropertyBag)
	in.From = conversion.RequiredValue(to, "from", src.From)
	in.To = conversion.RequiredValue(to, "to", src.To)
	return nil
}

func (in *oldPort) assignTo(dst *oldPortStorage, from conversion.Reader) error {
	dst.PropertyBag = from.Bag()
	dst.Name = conversion.RequiredPointer(from, "name", in.Name)
	dst.Port = conversion.OptionalPointer(from, "port", in.Port)
	return nil
}

func (in *oldPort) assignFrom(src *oldPortStorage, to conversion.Writer) error {
	to.SetBag(src.PropertyBag)
	in.Name = conversion.RequiredValue(to, "name", src.Name)
	in.Port = conversion.OptionalValue(to, "port", src.Port)
	return nil
}

func (in *oldRetries) assignTo(dst *oldRetriesStorage, from conversion.Reader) error {
	dst.PropertyBag = from.Bag()
	dst.Attempts = conversion.OptionalPointer(from, "attempts", in.Attempts)
	return nil
}

func (in *oldRetries) assignFrom(src *oldRetriesStorage, to conversion.Writer) error {
	to.SetBag(src.PropertyBag)
	in.Attempts = conversion.OptionalValue(to, "attempts", src.Attempts)
	return nil
}
