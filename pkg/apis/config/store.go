/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/configmap"
)

type contextKey struct{}

// Store keeps the last ConfigMap that parsed. One that does not parse is
// logged by the UntypedStore and changes nothing; if the very first does not
// parse, the process ends, since there is nothing to go on with.
type Store struct {
	*configmap.UntypedStore

	// seen is the data of the last ConfigMap, good or bad; nil before the first.
	seen map[string]string
}

// NewStore makes a Store. onAfterStore runs after each change that parsed, in
// the goroutine of the ConfigMap watcher.
func NewStore(logger configmap.Logger, onAfterStore ...func(name string, value any)) *Store {
	return &Store{UntypedStore: configmap.NewUntypedStore(
		"addressable", logger,
		Parsers,
		onAfterStore...,
	)}
}

// WatchConfigs has the watcher report each change of the ConfigMap.
func (s *Store) WatchConfigs(w configmap.Watcher) {
	w.Watch(AddressableName, s.OnConfigChanged)
}

// OnConfigChanged stores the content of a ConfigMap. The watcher also reports
// changes of labels and annotations, which must neither log an invalid ConfigMap again, nor enqueue every object. It must not be called by several
// goroutines at a time, which a watcher does not.
func (s *Store) OnConfigChanged(cm *corev1.ConfigMap) {
	if s.seen != nil && maps.Equal(s.seen, cm.Data) {
		return
	}
	if s.seen = cm.Data; s.seen == nil {
		s.seen = map[string]string{}
	}
	s.UntypedStore.OnConfigChanged(cm)
}

// Load returns the configuration in effect: the last valid ConfigMap, or the defaults as
// long as none was seen.
func (s *Store) Load() *Addressable {
	if a, ok := s.UntypedLoad(AddressableName).(*Addressable); ok {
		return a
	}
	return DefaultAddressable()
}

// ToContext implements reconciler.ConfigStore: one reconcile or admission sees
// one and the same configuration from its start to its end.
func (s *Store) ToContext(ctx context.Context) context.Context {
	return ToContext(ctx, s.Load())
}

// ToContext puts a configuration into a context; tests use it directly.
func ToContext(ctx context.Context, a *Addressable) context.Context {
	return context.WithValue(ctx, contextKey{}, a)
}

// FromContextOrDefaults returns the configuration in the context, or the defaults if the context has no configuration.
func FromContextOrDefaults(ctx context.Context) *Addressable {
	if a, ok := ctx.Value(contextKey{}).(*Addressable); ok {
		return a
	}
	return DefaultAddressable()
}
