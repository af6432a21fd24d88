/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Discovery goes on listing a kind for a moment after its CRD was deleted.
func TestKindWhoseCRDWasDeletedIsGoneWhateverDiscoverySays(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Radius"}
	k := &kinds{
		crds: cache.NewIndexer(cache.MetaNamespaceKeyFunc, crdIndexers()),
		discovery: &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{{
			GroupVersion: "example.com/v1",
			APIResources: []metav1.APIResource{{Name: "radii", Kind: "Radius", Namespaced: true}},
		}}}},
	}
	if found, p := k.find(gvk); p != nil || found.resource.Resource != "radii" {
		t.Errorf("find() = %+v, %+v, want the resource that an aggregated API server serves", found, p)
	}
	k.undefine(gvk.GroupKind())
	if found, p := k.find(gvk); p == nil || p.Reason != v1.ReasonTargetKindNotFound {
		t.Errorf("find() = %+v, %+v after the CRD was deleted, want that the kind is not found", found, p)
	}
}
