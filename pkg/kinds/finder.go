/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"
)

// ErrNotKnown is returned until the first discovery has completed, for kinds that no CRD defines.
var ErrNotKnown = errors.New("the first discovery of the cluster's kinds has not completed yet")

// Served is a kind that the cluster serves.
type Served struct {
	// Resource serves the kind, at the version that was asked for.
	Resource schema.GroupVersionResource

	// Namespaced is true if the objects of the kind are in namespaces.
	Namespaced bool

	// BuiltIn is true for Kubernetes' own kinds: those in one of its groups that no CRD defines.
	BuiltIn bool

	// Labels are those of the CRD, nil without one. They declare which duck types the kind has; see
	// knative.dev/pkg/apis/duck/README.md. They belong to the cache and must not be changed.
	Labels map[string]string
}

// NotServedError reports that the cluster does not serve a kind at a version. Once that changes, an event of the kind's CRD
// or the callback of NewFinder follows, so there is no need to ask again.
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

// Finder maps a kind to the resource that serves it. Use NewFinder. It may be used by several goroutines.
type Finder struct {
	*discoverer

	crds cache.Indexer
}

// NewFinder returns a Finder over the cache of an informer of CRDs, to which it adds the indexes that it needs, unless
// another Finder did. Pass the events of that informer to Changed.
//
// Kinds that no CRD defines are discovered in the background until ctx ends. changed is called with the group versions for
// which Find would now return another answer than before, so that its callers can be enqueued. It must not block.
func NewFinder(ctx context.Context, crds cache.Indexer, discovery discovery.ServerResourcesInterface,
	changed func(sets.Set[schema.GroupVersion]),
) (*Finder, error) {
	if _, exists := crds.GetIndexers()[byGroupKind]; !exists {
		if err := crds.AddIndexers(cache.Indexers{byGroupKind: groupKinds, byLowerKind: lowerKinds}); err != nil {
			return nil, fmt.Errorf("indexing CRDs by what they define: %w", err)
		}
	}
	f := &Finder{crds: crds}
	f.discoverer = newDiscoverer(ctx, discovery, f.isDefined, changed)
	return f, nil
}

// Find looks a kind up at a version. It never sends a request. The error is a *NotServedError if the cluster does not serve
// the kind so; ErrNotKnown before the first discovery; or else the last error of discovery. The callback follows when the
// answer changes, so there is no need to ask again.
//
// A kind that was discovered once is found for as long as the discovery of its version fails.
func (f *Finder) Find(gvk schema.GroupVersionKind) (Served, error) {
	if crd := defining(f.indexed(byGroupKind, gvk.GroupKind().String())); crd != nil {
		return fromCRD(crd, gvk)
	}
	served, err := f.discovered(gvk)
	if notServed, ok := errors.AsType[*NotServedError](err); ok {
		notServed.Detail = suggest(gvk.Group, append(f.alike(gvk.Kind), definedBy(f.indexed(byLowerKind, strings.ToLower(gvk.Kind)))...))
	}
	return served, err
}

// Changed must be called for each event of the informer of CRDs, before any caller of Find is enqueued. It returns a predicate
// for the resources that this CRD does not serve anymore: pass it to duckinformer.Factory.Stop.
func (f *Finder) Changed(crd *apiextensionsv1.CustomResourceDefinition, deleted bool) (gone func(schema.GroupVersionResource) bool) {
	if deleted {
		f.undefine(GroupKindOf(crd))
	}
	return func(gvr schema.GroupVersionResource) bool {
		return gvr.Group == crd.Spec.Group && gvr.Resource == crd.Spec.Names.Plural && (deleted || !servesVersion(crd, gvr.Version))
	}
}

func (f *Finder) isDefined(gk schema.GroupKind) bool {
	return len(f.indexed(byGroupKind, gk.String())) > 0
}

// indexed returns the CRDs that an index finds.
func (f *Finder) indexed(index, value string) []*apiextensionsv1.CustomResourceDefinition {
	objs, err := f.crds.ByIndex(index, value)
	if err != nil {
		// NewFinder has added the index.
		panic(err)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(objs))
	for _, obj := range objs {
		if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
			crds = append(crds, crd)
		}
	}
	return crds
}

// defining returns the CRD of a kind that is in force: if several define it, the API server establishes only one of them.
func defining(crds []*apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	var last *apiextensionsv1.CustomResourceDefinition
	for _, crd := range crds {
		if isEstablished(crd) {
			return crd
		}
		last = crd
	}
	return last
}

func isEstablished(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return apiextensionshelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

func fromCRD(crd *apiextensionsv1.CustomResourceDefinition, gvk schema.GroupVersionKind) (Served, error) {
	if !servesVersion(crd, gvk.Version) {
		return Served{}, &NotServedError{Kind: gvk, Versions: servedVersions(crd), Detail: "; its CRD serves " + strings.Join(servedVersions(crd), ", ")}
	}
	if !isEstablished(crd) {
		return Served{}, &NotServedError{Kind: gvk, Detail: " yet; its CRD is not established"}
	}
	return Served{
		Resource:   gvk.GroupVersion().WithResource(crd.Spec.Names.Plural),
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		Labels:     crd.Labels,
	}, nil
}

// suggest words a question that lists at most three kinds, those of the group that was asked for first.
func suggest(group string, kinds []schema.GroupVersionKind) string {
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		if (a.Group == group) != (b.Group == group) {
			return map[bool]int{true: -1, false: 1}[a.Group == group]
		}
		return strings.Compare(a.String(), b.String())
	})
	var names []string
	for _, gvk := range kinds[:min(len(kinds), 3)] {
		names = append(names, gvk.Kind+" at "+gvk.GroupVersion().String())
	}
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// isBuiltIn tells Kubernetes' own API groups from those of others, which must
// have a dot and, without approval, must not end in k8s.io (KEP-1111).
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
