/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// ErrNotKnown is returned until the first discovery has completed, for kinds that no CRD defines.
var ErrNotKnown = errors.New("the first discovery of the cluster's kinds has not completed yet")

// Served is a kind that the cluster serves.
type Served struct {
	// Resource serves the kind, at the requested version.
	Resource   schema.GroupVersionResource
	Namespaced bool

	// BuiltIn is true for Kubernetes' own kinds: those in one of its groups that no CRD defines.
	BuiltIn bool

	// Labels are those of the CRD, nil without one. They declare which duck types the kind has; see
	// knative.dev/pkg/apis/duck/README.md. They belong to the cache and must not be changed.
	Labels map[string]string
}

// NotServedError reports that the cluster does not serve a kind at a version.
type NotServedError struct {
	Kind schema.GroupVersionKind

	// Versions are those at which the kind's CRD serves the same objects instead; none without a CRD.
	Versions []string

	// Detail explains the reason, or suggests other kinds, with what separates it from the rest of the message. It may be empty.
	Detail string
}

// Error implements error.
func (e *NotServedError) Error() string {
	return fmt.Sprintf("the cluster does not serve kind %s at %s%s", e.Kind.Kind, e.Kind.GroupVersion(), e.Detail)
}

// Mapper maps a kind to the resource that serves it. Use NewMapper. It may be used by several goroutines.
type Mapper struct {
	ctx       context.Context //nolint:containedctx // the lifetime of the background discovery, not of a call
	crds      cache.Indexer
	discovery discovery.ServerResourcesInterface
	changed   func(sets.Set[schema.GroupVersion])
	clock     clock.Clock

	start sync.Once
	// doubted makes the background discovery run within recheck.
	doubted chan struct{}

	mu    sync.Mutex
	known document
	// unanswered are the group versions for which a caller got an error that is no answer.
	unanswered sets.Set[schema.GroupVersion]
	// undefined are the kinds whose CRD was deleted lately, and when.
	undefined map[schema.GroupKind]time.Time
}

// NewMapper returns a Mapper over the cache of an informer of CRDs, to which it adds the index that it needs, unless
// another Mapper did. Pass the events of that informer to Changed.
//
// Kinds that no CRD defines are discovered in the background until ctx ends. changed is called with the group versions for which Map would
// now return another answer than before, so that its callers need not poll. It must not block.
func NewMapper(ctx context.Context, crds cache.Indexer, discovery discovery.ServerResourcesInterface,
	changed func(sets.Set[schema.GroupVersion]),
) (*Mapper, error) {
	if _, exists := crds.GetIndexers()[byGroupKind]; !exists {
		if err := crds.AddIndexers(cache.Indexers{byGroupKind: groupKinds}); err != nil {
			return nil, fmt.Errorf("indexing CRDs by what they define: %w", err)
		}
	}
	return &Mapper{
		ctx:        ctx,
		crds:       crds,
		discovery:  discovery,
		changed:    changed,
		clock:      clock.RealClock{},
		doubted:    make(chan struct{}, 1),
		known:      document{err: ErrNotKnown},
		unanswered: sets.New[schema.GroupVersion](),
		undefined:  make(map[schema.GroupKind]time.Time),
	}, nil
}

// Map returns the resource of a kind at a version. It never sends a request. The error is a *NotServedError if the cluster does not serve
// the kind so; ErrNotKnown before the first discovery; or else the last error of discovery. A kind that was discovered once is found
// for as long as the discovery of its version fails, for example because an aggregated API server does not answer.
func (m *Mapper) Map(gvk schema.GroupVersionKind) (Served, error) {
	if crds := m.defining(gvk.GroupKind()); len(crds) > 0 {
		return fromCRDs(crds, gvk)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if found, ok := m.known.served[gvk]; ok {
		return found, nil
	}
	m.start.Do(func() { go m.run() })
	select {
	case m.doubted <- struct{}{}:
	default:
	}
	if err := m.known.errorOf(gvk.GroupVersion()); err != nil {
		m.unanswered.Insert(gvk.GroupVersion())
		return Served{}, fmt.Errorf("discovering %s: %w", gvk.GroupVersion(), err)
	}
	return Served{}, &NotServedError{Kind: gvk, Detail: m.suggest(gvk)}
}

// Changed must be called for each event of the informer of CRDs, before any caller of Map is enqueued. It returns a predicate
// for the resources that this CRD does not serve anymore: pass it to ducks.Factory.Stop.
func (m *Mapper) Changed(crd *apiextensionsv1.CustomResourceDefinition, deleted bool) (gone func(schema.GroupVersionResource) bool) {
	if gk := GroupKindOf(crd); deleted {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.undefined[gk] = m.clock.Now()
		// A discovery may have seen the kind before the informer had its CRD.
		maps.DeleteFunc(m.known.served, func(gvk schema.GroupVersionKind, _ Served) bool { return gvk.GroupKind() == gk })
	}
	return func(gvr schema.GroupVersionResource) bool {
		return gvr.Group == crd.Spec.Group && gvr.Resource == crd.Spec.Names.Plural &&
			(deleted || !slices.Contains(servedVersions(crd), gvr.Version))
	}
}

// defining returns the CRDs that define a kind.
func (m *Mapper) defining(gk schema.GroupKind) []any {
	crds, err := m.crds.ByIndex(byGroupKind, gk.String())
	if err != nil {
		// NewMapper has added the index.
		panic(err)
	}
	return crds
}

// suggest words a question that lists at most three kinds of the same name in any case, those of the same group first. m.mu is held.
func (m *Mapper) suggest(gvk schema.GroupVersionKind) string {
	var same, others []string
	add := func(alike schema.GroupVersionKind) {
		list := &others
		if alike.Group == gvk.Group {
			list = &same
		}
		if strings.EqualFold(alike.Kind, gvk.Kind) {
			*list = append(*list, alike.Kind+" at "+alike.GroupVersion().String())
		}
	}
	for discovered := range m.known.served {
		add(discovered)
	}
	for _, obj := range m.crds.List() {
		if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
			for _, version := range servedVersions(crd) {
				add(GroupKindOf(crd).WithVersion(version))
			}
		}
	}
	slices.Sort(same)
	slices.Sort(others)
	names := slices.Concat(same, others)
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names[:min(len(names), 3)], " or ") + "?"
}

// isBuiltIn distinguishes Kubernetes' own API groups from those of others, which must have a dot and, without approval, must not end in
// k8s.io (KEP-1111).
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
