/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts EventTypes as the webhook of Knative Eventing does.
package main

import (
	"knative.dev/eventing/pkg/apis/eventing/v1beta1"
	"knative.dev/eventing/pkg/apis/eventing/v1beta2"
	"knative.dev/eventing/pkg/apis/eventing/v1beta3"
	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

func main() {
	upstream.Serve(upstream.Convertibles("v1beta1", map[string]map[string]func() apis.Convertible{
		"EventType": {
			"v1beta1": func() apis.Convertible { return &v1beta1.EventType{} },
			"v1beta2": func() apis.Convertible { return &v1beta2.EventType{} },
			"v1beta3": func() apis.Convertible { return &v1beta3.EventType{} },
		},
	}))
}
