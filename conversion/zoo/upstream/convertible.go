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
		} else if err := middle.ConvertFrom(context.Background(), in); err != nil {
			return nil, fmt.Errorf("converting from %s: %w", from, err)
		}
		if to == hub {
			out = middle
		} else if err := middle.ConvertTo(context.Background(), out); err != nil {
			return nil, fmt.Errorf("converting to %s: %w", to, err)
		}
		return json.Marshal(out)
	}
}

// Spoke is sigs.k8s.io/controller-runtime/pkg/conversion.Convertible, whose methods have the interface of the hub as a parameter.
type Spoke[H any] interface {
	ConvertTo(hub H) error
	ConvertFrom(hub H) error
}

// Kind has a constructor for the hub of a kind, and for each other version.
type Kind[H any, S Spoke[H]] struct {
	Hub    func() H
	Spokes map[string]func() S
}

// Spokes returns the conversion of kinds, each of whose versions converts to the hub and from it.
func Spokes[H any, S Spoke[H]](kinds map[string]Kind[H, S]) Convert {
	return func(kind, from, to string, object []byte) ([]byte, error) {
		known, ok := kinds[kind]
		if !ok {
			return nil, fmt.Errorf("unknown kind %s", kind)
		}
		hub := known.Hub()
		source, target := known.Spokes[from], known.Spokes[to]
		if source == nil {
			if err := json.Unmarshal(object, hub); err != nil {
				return nil, fmt.Errorf("reading %s: %w", from, err)
			}
		} else {
			in := source()
			if err := json.Unmarshal(object, in); err != nil {
				return nil, fmt.Errorf("reading %s: %w", from, err)
			}
			if err := in.ConvertTo(hub); err != nil {
				return nil, fmt.Errorf("converting from %s: %w", from, err)
			}
		}
		if target == nil {
			return json.Marshal(hub)
		}
		out := target()
		if err := out.ConvertFrom(hub); err != nil {
			return nil, fmt.Errorf("converting to %s: %w", to, err)
		}
		return json.Marshal(out)
	}
}
