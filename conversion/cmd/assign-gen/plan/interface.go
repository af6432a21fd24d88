/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plan

// Interface is the interface that the conversion webhook calls.
type Interface string

const (
	// Knative is apis.Convertible of knative.dev/pkg.
	Knative Interface = "knative"
	// ControllerRuntime is conversion.Hub and conversion.Convertible of controller-runtime.
	ControllerRuntime Interface = "controller-runtime"
)

// methods are the names of the methods that a kind gets for the webhook.
func (i Interface) methods(isHub bool) []string {
	switch {
	case i != ControllerRuntime:
		return []string{"ConvertTo", "ConvertFrom"}
	case isHub:
		return []string{"ConversionAnnotation", "Hub"}
	default:
		return []string{"ConversionAnnotation", "ConvertTo", "ConvertFrom"}
	}
}
