/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"fmt"
	"strings"
	"sync"
	"time"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// Served is a kind that the cluster serves.
type Served struct {
	// Resource is where, at the version that was asked for.
	Resource schema.GroupVersionResource

	// Namespaced is whether its objects are in namespaces.
	Namespaced bool

	// BuiltIn is whether the kind is Kubernetes' own: in one of its groups, and not defined by a CRD.
	BuiltIn bool

	// Labels are those of the CRD, nil without one. They say which duck types the kind has; see
	// knative.dev/pkg/apis/duck/README.md. They belong to the cache and must not be changed.
	Labels map[string]string
}

// NotServedError says that the cluster does not serve a kind at a version. No other look-up is needed until a CRD of the
// kind is there or changes, except for kinds of aggregated API servers, which nothing tells of.
type NotServedError struct {
	Kind schema.GroupVersionKind

	// Versions are those at which the kind's CRD serves it instead, which hold the same objects; none without a CRD.
	Versions []string

	// Detail is what the kind's CRD says to that, with what separates it from the rest of the message; empty without one.
	Detail string
}

// Error implements error.
func (e *NotServedError) Error() string {
	return fmt.Sprintf("the cluster does not serve kind %s at %s%s", e.Kind.Kind, e.Kind.GroupVersion(), e.Detail)
}

// discoveryLags is for how long after the deletion of a CRD discovery is not believed. It lists the kind for some seconds at most.
const discoveryLags = time.Minute

// Finder finds the resource that serves a kind. Use NewFinder. It may be used by several goroutines.
type Finder struct {
	crds      cache.Indexer
	discovery discovery.ServerResourcesInterface

	clock clock.PassiveClock

	mu sync.Mutex
	// undefined are the kinds whose CRD was deleted, and when. Discovery still lists them for a while, and an informer that is
	// started by that would never end.
	undefined map[schema.GroupKind]time.Time
	// builtIn are the kinds of Kubernetes' own that were found: but for a few that are aggregated, such as PodMetrics, they
	// come and go with the API server's version only.
	builtIn map[schema.GroupVersionKind]Served
}

// NewFinder returns a Finder over the cache of an informer of CRDs, to which it adds the index that it needs, unless
// another Finder did. The events of that informer are to be told to Changed. discovery is asked only for kinds that no
// CRD defines, and only until it was found for one of Kubernetes' own.
func NewFinder(crds cache.Indexer, discovery discovery.ServerResourcesInterface) (*Finder, error) {
	if _, exists := crds.GetIndexers()[byGroupKind]; !exists {
		if err := crds.AddIndexers(cache.Indexers{byGroupKind: groupKinds}); err != nil {
			return nil, fmt.Errorf("indexing CRDs by what they define: %w", err)
		}
	}
	return &Finder{
		crds:      crds,
		discovery: discovery,
		clock:     clock.RealClock{},
		undefined: make(map[schema.GroupKind]time.Time),
		builtIn:   make(map[schema.GroupVersionKind]Served),
	}, nil
}

// Find looks a kind up at a version. The error is a *NotServedError if the cluster does not serve it so, and otherwise
// says why that could not be found out, which is worth another try. A version of a kind of Kubernetes' own that an upgrade
// of the API server takes away, or that was aggregated and is gone, is found on, and listing it is answered with NotFound.
func (f *Finder) Find(gvk schema.GroupVersionKind) (Served, error) {
	crds, err := f.crds.ByIndex(byGroupKind, gvk.GroupKind().String())
	if err != nil {
		return Served{}, fmt.Errorf("looking up the CRD of %s: %w", gvk.GroupKind(), err)
	}
	if crd := defining(crds); crd != nil {
		return fromCRD(crd, gvk)
	}
	if f.isUndefined(gvk.GroupKind()) {
		return Served{}, &NotServedError{Kind: gvk}
	}
	if served, ok := f.knownBuiltIn(gvk); ok {
		return served, nil
	}
	served, err := f.discover(gvk)
	if err == nil && served.BuiltIn {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.builtIn[gvk] = served
	}
	return served, err
}

// Changed is to be called for each event of the informer of CRDs, before anyone is woken who looks the kind up. It
// returns which resources are served no more according to this CRD, which is what duckinformer.Factory.Stop is to be given.
func (f *Finder) Changed(crd *apiextensionsv1.CustomResourceDefinition, deleted bool) (gone func(schema.GroupVersionResource) bool) {
	if deleted {
		f.mu.Lock()
		defer f.mu.Unlock()
		// If there is a new one by the time of a look-up, that counts.
		f.undefined[GroupKindOf(crd)] = f.clock.Now()
	}
	return func(gvr schema.GroupVersionResource) bool {
		return gvr.Group == crd.Spec.Group && gvr.Resource == crd.Spec.Names.Plural && (deleted || !servesVersion(crd, gvr.Version))
	}
}

func (f *Finder) isUndefined(gk schema.GroupKind) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	deleted, ok := f.undefined[gk]
	if ok && f.clock.Since(deleted) >= discoveryLags {
		// An aggregated API server may serve it by now.
		delete(f.undefined, gk)
		return false
	}
	return ok
}

func (f *Finder) knownBuiltIn(gvk schema.GroupVersionKind) (Served, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	served, ok := f.builtIn[gvk]
	return served, ok
}

// defining is which of the CRDs of a kind counts: of several, the API server accepts the names of one, and the others are never
// established.
func defining(crds []any) *apiextensionsv1.CustomResourceDefinition {
	var last *apiextensionsv1.CustomResourceDefinition
	for _, obj := range crds {
		crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition)
		switch {
		case !ok:
		case isEstablished(crd):
			return crd
		default:
			last = crd
		}
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

func (f *Finder) discover(gvk schema.GroupVersionKind) (Served, error) {
	if strings.Contains(gvk.Version, "/") {
		// Not a version that could be asked for; schemas refuse it.
		return Served{}, &NotServedError{Kind: gvk}
	}
	list, err := f.discovery.ServerResourcesForGroupVersion(gvk.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return Served{}, fmt.Errorf("discovering %s: %w", gvk.GroupVersion(), err)
	}
	if list != nil {
		for _, r := range list.APIResources {
			// Those with a slash are subresources.
			if r.Kind == gvk.Kind && !strings.Contains(r.Name, "/") {
				return Served{
					Resource:   gvk.GroupVersion().WithResource(r.Name),
					Namespaced: r.Namespaced,
					BuiltIn:    isBuiltIn(gvk.Group),
				}, nil
			}
		}
	}
	return Served{}, &NotServedError{Kind: gvk}
}

// isBuiltIn tells Kubernetes' own API groups from those of others, which must
// have a dot and, without approval, must not end in k8s.io (KEP-1111).
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
