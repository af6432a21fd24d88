/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

// Discovery goes on listing a kind for a moment after its CRD was deleted. After that it may be that of an aggregated API server.
func TestKindWhoseCRDWasDeletedIsGoneForAMomentWhateverDiscoverySays(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Radius"}
	finder, discovery := newFinder(t)
	clock := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	finder.clock = clock
	discovery.Resources = []*metav1.APIResourceList{{
		GroupVersion: "example.com/v1",
		APIResources: []metav1.APIResource{{Name: "radii", Kind: "Radius", Namespaced: true}},
	}}
	finder.Changed(radiusCRD(), false)
	if found, err := finder.Find(gvk); err != nil || found.Resource.Resource != "radii" {
		t.Errorf("Find() = %+v, %v, want the resource that an aggregated API server serves", found, err)
	}
	finder.Changed(radiusCRD(), true)
	for _, after := range []time.Duration{0, discoveryLags - 1} {
		clock.SetTime(time.Unix(1000, 0).Add(after))
		found, err := finder.Find(gvk)
		if _, ok := errors.AsType[*NotServedError](err); !ok {
			t.Errorf("Find() = %+v, %v %s after the CRD was deleted, want that the kind is not found", found, err, after)
		}
	}
	clock.SetTime(time.Unix(1000, 0).Add(discoveryLags))
	if found, err := finder.Find(gvk); err != nil || found.Resource.Resource != "radii" {
		t.Errorf("Find() = %+v, %v long after the CRD was deleted, want what discovery says", found, err)
	}
	if err := finder.crds.Add(radiusCRD()); err != nil {
		t.Fatal(err)
	}
	if found, err := finder.Find(gvk); err != nil || found.Resource.Resource != "radii" {
		t.Errorf("Find() = %+v, %v after there was a CRD again, want what it defines", found, err)
	}
}
