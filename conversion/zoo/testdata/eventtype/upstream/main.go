/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts EventTypes as the webhook of Knative Eventing does.
package main

import (
	"context"
	"encoding/json"

	"knative.dev/eventing/pkg/apis/eventing/v1beta1"
	"knative.dev/eventing/pkg/apis/eventing/v1beta2"
	"knative.dev/eventing/pkg/apis/eventing/v1beta3"
	"knative.dev/pkg/apis"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

func main() {
	versions := map[string]func() apis.Convertible{
		"v1beta1": func() apis.Convertible { return &v1beta1.EventType{} },
		"v1beta2": func() apis.Convertible { return &v1beta2.EventType{} },
		"v1beta3": func() apis.Convertible { return &v1beta3.EventType{} },
	}
	upstream.Serve(func(_, from, to string, object []byte) ([]byte, error) {
		in, hub, out := versions[from](), versions["v1beta1"](), versions[to]()
		if err := json.Unmarshal(object, in); err != nil {
			return nil, err
		}
		if from == "v1beta1" {
			hub = in
		} else if err := hub.ConvertFrom(context.Background(), in); err != nil {
			return nil, err
		}
		if to == "v1beta1" {
			out = hub
		} else if err := hub.ConvertTo(context.Background(), out); err != nil {
			return nil, err
		}
		return json.Marshal(out)
	})
}
