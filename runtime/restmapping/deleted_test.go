/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
)

// Discovery lists a kind for a moment after its CRD was deleted. After that it may be that of an aggregated API server.
func TestFind_CRDDeleted_DiscoveryIsNotTrustedForAMoment(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Radius"}
	mapper, discovery := newMapper(t)
	clock := clocktesting.NewFakeClock(time.Unix(1000, 0))
	mapper.clock = clock
	discovery.Resources = append(discovery.Resources, &metav1.APIResourceList{
		GroupVersion: "example.com/v1", APIResources: []metav1.APIResource{{Name: "radii", Kind: "Radius", Namespaced: true}},
	})
	mapper.Changed(radiusCRD(), false)
	if found, err := mustMap(t, mapper, gvk); err != nil || found.Resource.Resource != "radii" {
		t.Errorf("Map() = %+v, %v, want the resource that an aggregated API server serves", found, err)
	}
	mapper.Changed(radiusCRD(), true)
	for range 2 {
		if found, err := mapper.Map(gvk); !isNotServed(err) {
			t.Errorf("Map() = %+v, %v after the CRD was deleted, want that the kind is not found", found, err)
		}
		clock.Step(time.Second)
	}
	eventually(t, "long after the CRD was deleted discovery is trusted", func() bool {
		clock.Step(time.Second)
		found, err := mapper.Map(gvk)
		return err == nil && found.Resource.Resource == "radii"
	})
	if elapsed := clock.Since(time.Unix(1000, 0)); elapsed < discoveryLags {
		t.Errorf("discovery was trusted after %s", elapsed)
	}
	if err := mapper.crds.Add(radiusCRD()); err != nil {
		t.Fatal(err)
	}
	if found, err := mapper.Map(gvk); err != nil || found.Labels == nil {
		t.Errorf("Map() = %+v, %v after there was a CRD again, want what it defines", found, err)
	}
}
