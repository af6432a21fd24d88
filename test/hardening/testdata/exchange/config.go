/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package config has what our constructor uses of the package of this name, for a compilation in another repository.
package config

import (
	"context"

	"knative.dev/pkg/configmap"
)

// Addressable is the content of a ConfigMap.
type Addressable struct{}

// Store has the ConfigMap.
type Store struct{ *configmap.UntypedStore }

// NewStore makes a Store.
func NewStore(logger configmap.Logger, onAfterStore ...func(name string, value any)) *Store {
	return &Store{configmap.NewUntypedStore("addressable", logger, nil, onAfterStore...)}
}

// Directories implements the method of this name.
func (*Store) Directories() []string { return nil }

// ToContext implements reconciler.ConfigStore.
func (*Store) ToContext(ctx context.Context) context.Context { return ctx }
