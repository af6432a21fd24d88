/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"context"
	"slices"
	"sync"

	"knative.dev/pkg/configmap"

	"github.com/mallard-dev/mallard/pkg/apis/config/strict"
)

type contextKey struct{}

// Logger is a configmap.Logger with warnings, such as *zap.SugaredLogger.
type Logger interface {
	configmap.Logger
	Warnf(format string, args ...any)
}

// Store keeps the last ConfigMap that parsed. One that does not parse is logged by the UntypedStore and changes nothing; if the very first does not
// parse, the process ends, since there is nothing to go on with.
type Store struct {
	*configmap.UntypedStore

	directories sync.Map // the values of DirectoryNamespace so far
}

// NewStore makes a Store, which warns of unknown keys and ignores them. onAfterStore runs after each change that parsed, in the goroutine of the
// ConfigMap watcher.
func NewStore(logger Logger, onAfterStore ...func(name string, value any)) *Store {
	s, constructors := &Store{}, configmap.Constructors{AddressableName: strict.Tolerant(logger.Warnf, NewAddressableFromConfigMap)}
	s.UntypedStore = configmap.NewUntypedStore("addressable", logger, constructors,
		slices.Insert(onAfterStore, 0, configmap.TypeFilter(&Addressable{})(func(_ string, value any) {
			s.directories.Store(value.(*Addressable).DirectoryNamespace, nil) //nolint:forcetypeassert // as TypeFilter says
		}))...)
	return s
}

// Directories returns the directory namespaces of the configurations that were in effect in this process. Another process may use a former one still.
func (s *Store) Directories() []string {
	directories := []string{s.Load().DirectoryNamespace}
	s.directories.Range(func(directory, _ any) bool {
		directories = append(directories, directory.(string)) //nolint:forcetypeassert // as NewStore stores it
		return true
	})
	return directories
}

// Load returns the configuration in effect: the last valid ConfigMap, or the defaults as long as none was seen.
func (s *Store) Load() *Addressable {
	if a, ok := s.UntypedLoad(AddressableName).(*Addressable); ok {
		return a
	}
	return DefaultAddressable()
}

// ToContext implements reconciler.ConfigStore: one reconcile or admission sees one and the same configuration from its start to its end.
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
