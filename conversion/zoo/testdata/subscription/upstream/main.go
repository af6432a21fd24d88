/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts Subscriptions as the webhook of Knative Eventing does.
package main

import (
	v1 "knative.dev/eventing/pkg/apis/messaging/v1"
	"knative.dev/eventing/pkg/apis/messaging/v1beta1"
	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

func main() {
	upstream.Serve(upstream.Convertibles("v1beta1", map[string]map[string]func() apis.Convertible{
		"Subscription": {
			"v1beta1": func() apis.Convertible { return &v1beta1.Subscription{} },
			"v1":      func() apis.Convertible { return &v1.Subscription{} },
		},
	}))
}
