/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionshelpers "k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// addressableLabelKey on a CRD says that its objects carry an address, as
// knative.dev/pkg/apis/duck/README.md defines.
const addressableLabelKey = "duck.knative.dev/addressable"

// kinds finds the resource that serves a kind.
type kinds struct {
	// crds is the index of the CRD informer by group and kind.
	crds cache.Indexer
	// discovery is asked only for kinds that no CRD defines.
	discovery discovery.ServerResourcesInterface

	mu sync.Mutex
	// undefined are the kinds whose CRD was deleted. Discovery still lists them
	// for a while, and an informer that is started by that would never end.
	undefined sets.Set[schema.GroupKind]
}

// servedKind is a kind that the cluster serves.
type servedKind struct {
	resource   schema.GroupVersionResource
	namespaced bool
	// addressable is whether its CRD says that its objects have addresses.
	addressable bool
}

// find looks a kind up. The plural name of a resource cannot be guessed from its
// kind, so it is taken from the CRD, or from discovery for kinds of an
// aggregated API server.
func (k *kinds) find(gvk schema.GroupVersionKind) (servedKind, *problem.Problem) {
	crds, err := k.crds.ByIndex(crdsByGroupKind, gvk.GroupKind().String())
	if err != nil {
		return servedKind{}, problem.Failed(v1.ReasonTargetUnavailable, fmt.Errorf("looking up the CRD of %s: %w", gvk.GroupKind(), err))
	}
	for _, obj := range crds {
		if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
			return fromCRD(crd, gvk)
		}
	}
	if k.isUndefined(gvk.GroupKind()) {
		return servedKind{}, kindNotFound(gvk)
	}
	return k.discover(gvk)
}

// undefine notes that the CRD of a kind was deleted. If there is a new one by the time
// of a look-up, that counts.
func (k *kinds) undefine(gk schema.GroupKind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.undefined == nil {
		k.undefined = sets.New[schema.GroupKind]()
	}
	k.undefined.Insert(gk)
}

func (k *kinds) isUndefined(gk schema.GroupKind) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.undefined.Has(gk)
}

func fromCRD(crd *apiextensionsv1.CustomResourceDefinition, gvk schema.GroupVersionKind) (servedKind, *problem.Problem) {
	if !servesVersion(crd, gvk.Version) {
		p := kindNotFound(gvk)
		p.Message += "; its CRD serves " + strings.Join(servedVersions(crd), ", ")
		return servedKind{}, p
	}
	if !apiextensionshelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established) {
		p := kindNotFound(gvk)
		p.Message += " yet; its CRD is not established"
		return servedKind{}, p
	}
	return servedKind{
		resource:    schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: crd.Spec.Names.Plural},
		namespaced:  crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		addressable: crd.Labels[addressableLabelKey] == "true",
	}, nil
}

func (k *kinds) discover(gvk schema.GroupVersionKind) (servedKind, *problem.Problem) {
	if strings.Contains(gvk.Version, "/") {
		// Not a version that could be asked for; the schema refuses it.
		return servedKind{}, kindNotFound(gvk)
	}
	list, err := k.discovery.ServerResourcesForGroupVersion(gvk.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return servedKind{}, problem.Failed(v1.ReasonTargetUnavailable, fmt.Errorf("discovering %s: %w", gvk.GroupVersion(), err))
	}
	if list != nil {
		for _, r := range list.APIResources {
			if r.Kind != gvk.Kind || strings.Contains(r.Name, "/") {
				continue
			}
			if isBuiltIn(gvk.Group) {
				return servedKind{}, problem.Newf(v1.ReasonTargetNotAddressable,
					"%s is a built-in kind, of which only Service has an address", gvk.GroupKind())
			}
			return servedKind{resource: gvk.GroupVersion().WithResource(r.Name), namespaced: r.Namespaced}, nil
		}
	}
	return servedKind{}, kindNotFound(gvk)
}

// isBuiltIn tells Kubernetes' own API groups from those of others, which must
// have a dot and, without approval, must not end in k8s.io (KEP-1111).
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

func servesVersion(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.Contains(servedVersions(crd), version)
}

func servedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var versions []string
	for _, v := range crd.Spec.Versions {
		if v.Served {
			versions = append(versions, v.Name)
		}
	}
	return versions
}
