/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// shared is an informer that several sources and observers use. The lock of the hub guards what changes, except its health.
type shared struct {
	cache.SharedIndexInformer

	// transform identifies that of the informer, if it has one.
	transform unsafe.Pointer
	// indexes are the sources that have added an index, by its name.
	indexes map[string]*source
	// end ends the informer. It is nil if injection runs it.
	end    context.CancelFunc
	users  []string
	health health
}

// informerOf returns the informer of a source for a user, which may release it. The first user starts it, unless injection does. ctx is that of the
// process, or of one of its controllers.
func (h *hub) informerOf(ctx context.Context, s *source, user string) (*shared, error) {
	switch {
	case s.err != nil:
		return nil, s.err
	case s.ducks != nil:
		return nil, fmt.Errorf("the source %s has no cache, so it is for Wire alone", s.name)
	}
	key := s.key.in(h.ctx)
	if s.injected != nil {
		key.kind = s.injected(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	i, isKnown := h.informers[key]
	if !isKnown {
		var err error
		if i, err = newShared(h.ctx, s, key); err != nil {
			return nil, fmt.Errorf("making an informer: %w", err)
		}
	}
	if err := errors.Join(h.setTransform(i, s), i.addIndexes(s)); err != nil {
		return nil, err
	}
	if !isKnown {
		h.informers[key] = i
		if s.build != nil {
			running, end := context.WithCancel(h.ctx)
			i.end = end
			go i.RunWithContext(running)
		}
	}
	i.users = append(i.users, user)
	return i, nil
}

func newShared(ctx context.Context, s *source, key sourceKey) (*shared, error) {
	i := &shared{indexes: map[string]*source{}}
	if informer, ok := key.kind.(cache.SharedIndexInformer); ok {
		i.SharedIndexInformer = informer
		return i, nil
	}
	informer, err := s.build(ctx, key, func(options *metav1.ListOptions) {
		key.tweak(options)
		i.requested(options)
	})
	if err != nil {
		return nil, err
	}
	i.SharedIndexInformer = informer
	return i, informer.SetWatchErrorHandlerWithContext(i.failed) //nolint:wrapcheck // the caller does
}

// setTransform sets the transform of a source, unless the informer has it.
func (h *hub) setTransform(i *shared, s *source) error {
	switch {
	case s.transform == nil || i.transform == identity(s.transform):
		return nil
	case i.transform != nil:
		return fmt.Errorf("the source %s has another Transform than one before it, with which it shares a watch: %v", s.name, s.key)
	case s.injected != nil && h.started:
		return fmt.Errorf("the Transform of %s has to be set before the informers start, by Wire or by a registered observer that is queued", s.name)
	}
	if err := i.SetTransform(reporting(h.ctx, s.name, s.transform)); err != nil {
		return fmt.Errorf("setting the transform of %s: %w", s.name, err)
	}
	i.transform = identity(s.transform)
	return nil
}

// addIndexes adds the indexes of a source. Several observers may name the source.
func (i *shared) addIndexes(s *source) error {
	for name, values := range s.indexers {
		if i.indexes[name] == s {
			continue
		}
		if err := i.AddIndexers(cache.Indexers{name: values}); err != nil {
			return fmt.Errorf("adding index %q of %s: %w", name, s.name, err)
		}
		i.indexes[name] = s
	}
	return nil
}

// release ends an informer that has no user any more, unless injection runs it.
func (h *hub) release(i *shared, user string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := slices.Index(i.users, user); at >= 0 {
		i.users = slices.Delete(i.users, at, at+1)
	}
	if len(i.users) > 0 || i.end == nil {
		return
	}
	i.end()
	maps.DeleteFunc(h.informers, func(_ sourceKey, other *shared) bool { return other == i })
}
