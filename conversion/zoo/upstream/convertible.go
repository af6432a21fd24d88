/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package upstream

import (
	"context"
	"encoding/json"
	"fmt"
)

// Convertible is knative.dev/pkg/apis.Convertible, whose methods have the interface itself as a parameter.
type Convertible[C any] interface {
	ConvertTo(ctx context.Context, to C) error
	ConvertFrom(ctx context.Context, from C) error
}

// Convertibles returns the conversion of kinds in several versions, by kind and version, of which one converts from and to all others.
func Convertibles[C Convertible[C]](hub string, kinds map[string]map[string]func() C) Convert {
	return Through(hub, kinds,
		func(from, hub C) error { return hub.ConvertFrom(context.Background(), from) },
		func(hub, to C) error { return hub.ConvertTo(context.Background(), to) })
}

// Through returns the conversion of kinds in several versions, by kind and version, by functions that convert from any version to the hub and
// from the hub to any version.
func Through[O any](hub string, kinds map[string]map[string]func() O, toHub, fromHub func(from, to O) error) Convert {
	return func(kind, from, to string, object []byte) ([]byte, error) {
		versions := kinds[kind]
		if versions[from] == nil || versions[to] == nil {
			return nil, fmt.Errorf("unknown kind %s in versions %s and %s", kind, from, to)
		}
		in, middle, out := versions[from](), versions[hub](), versions[to]()
		if err := json.Unmarshal(object, in); err != nil {
			return nil, fmt.Errorf("reading %s: %w", from, err)
		}
		if from == hub {
			middle = in
		} else if err := toHub(in, middle); err != nil {
			return nil, fmt.Errorf("converting from %s: %w", from, err)
		}
		if to == hub {
			out = middle
		} else if err := fromHub(middle, out); err != nil {
			return nil, fmt.Errorf("converting to %s: %w", to, err)
		}
		return json.Marshal(out)
	}
}
