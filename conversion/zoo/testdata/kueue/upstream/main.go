/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The program converts kinds of Kueue by the functions that its webhooks call.
package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/kueue/apis/kueue/v1beta1"
	"sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/mallard-dev/mallard/conversion/zoo/upstream"
)

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1beta1.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // the scheme is new
		}
	}
	upstream.Serve(func(kind, from, to string, object []byte) ([]byte, error) {
		in, err := scheme.New(schema.GroupVersionKind{Group: v1beta1.GroupVersion.Group, Version: from, Kind: kind})
		if err != nil {
			return nil, fmt.Errorf("creating %s: %w", from, err)
		}
		out, err := scheme.New(schema.GroupVersionKind{Group: v1beta1.GroupVersion.Group, Version: to, Kind: kind})
		if err == nil {
			err = json.Unmarshal(object, in)
		}
		if err == nil {
			err = scheme.Convert(in, out, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("converting from %s to %s: %w", from, to, err)
		}
		return json.Marshal(out)
	})
}
