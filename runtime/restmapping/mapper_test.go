/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	fakediscovery "k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

type modifier = func(*apiextensionsv1.CustomResourceDefinition)

// radiusCRD defines kind Radius of group example.com, whose plural is irregular.
func radiusCRD(mods ...modifier) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "radii.example.com", Labels: map[string]string{"k": "v"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Kind: "Radius", Plural: "radii"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v0"}, {Name: "v1", Served: true}, {Name: "v2", Served: true}},
		},
		Status: apiextensionsv1.CustomResourceDefinitionStatus{
			Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{
				Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
			}},
		},
	}
	for _, m := range mods {
		m(crd)
	}
	return crd
}

func notEstablished(crd *apiextensionsv1.CustomResourceDefinition) { crd.Status.Conditions = nil }

func clusterScoped(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Scope = apiextensionsv1.ClusterScoped
}

// secondCRDs define the kind at other plurals, which the API server does not accept.
func secondCRDs() []*apiextensionsv1.CustomResourceDefinition {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, plural := range []string{"radiuses", "radixes", "radioes", "radius"} {
		crds = append(crds, radiusCRD(notEstablished, func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Name, crd.Spec.Names.Plural = plural+".example.com", plural
		}))
	}
	return crds
}

func pending(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Name, crd.Spec.Group = "radii.pending.example.com", "pending.example.com"
}

func approved(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Group = "radius.k8s.io" }

// newMapper is a Mapper in a cluster with these CRDs, and with kinds that none defines.
func newMapper(t *testing.T, crds ...*apiextensionsv1.CustomResourceDefinition) (*Mapper, *fakediscovery.FakeDiscovery) {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, crd := range crds {
		if err := indexer.Add(crd); err != nil {
			t.Fatal(err)
		}
	}
	discovery := &fakediscovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "Node"}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments/status", Kind: "Deployment", Namespaced: true},
			{Name: "deployments", Kind: "Deployment", Namespaced: true},
			{Name: "deployments/scale", Kind: "Scale", Namespaced: true},
		}},
		{GroupVersion: "aggregated.example.com/v1", APIResources: []metav1.APIResource{{Name: "geese", Kind: "Goose", Namespaced: true}}},
	}}}
	mapper, err := NewMapper(t.Context(), indexer, discovery, func(sets.Set[schema.GroupVersion]) {})
	if err != nil {
		t.Fatal(err)
	}
	return mapper, discovery
}

// mustMap returns the answer to Map once there is one.
func mustMap(t *testing.T, mapper *Mapper, gvk schema.GroupVersionKind) (served Served, err error) {
	t.Helper()
	eventually(t, "the first discovery completes", func() bool {
		served, err = mapper.Map(gvk)
		return !errors.Is(err, ErrNotKnown)
	})
	return served, err
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), time.Millisecond, wait.ForeverTestTimeout, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestFind_ServedKind_ReturnsItsResource(t *testing.T) {
	crd := []*apiextensionsv1.CustomResourceDefinition{radiusCRD()}
	radius := schema.GroupKind{Group: "example.com", Kind: "Radius"}
	for name, tc := range map[string]struct {
		reason string
		crds   []*apiextensionsv1.CustomResourceDefinition
		gvk    schema.GroupVersionKind
		want   Served
	}{
		"CRD": {
			reason: "The plural, the scope and the labels are the CRD's.", crds: crd, gvk: radius.WithVersion("v1"),
			want: Served{Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "radii"}, Namespaced: true, Labels: map[string]string{"k": "v"}},
		},
		"OtherVersion": {
			reason: "The version is the requested one.", crds: crd, gvk: radius.WithVersion("v2"),
			want: Served{Resource: schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "radii"}, Namespaced: true, Labels: map[string]string{"k": "v"}},
		},
		"ClusterScoped": {
			reason: "Its objects are in no namespace.", crds: []*apiextensionsv1.CustomResourceDefinition{radiusCRD(clusterScoped)}, gvk: radius.WithVersion("v1"),
			want: Served{Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "radii"}, Labels: map[string]string{"k": "v"}},
		},
		"SecondCRDOfTheKind": {
			reason: "Only the first is established; there are many, because their order is not defined.",
			crds:   append(secondCRDs(), radiusCRD()), gvk: radius.WithVersion("v1"),
			want: Served{Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "radii"}, Namespaced: true, Labels: map[string]string{"k": "v"}},
		},
		"CRDOfAGroupOfKubernetes": {
			reason: "What a CRD defines is not built in, whatever its group.",
			crds:   []*apiextensionsv1.CustomResourceDefinition{radiusCRD(approved)}, gvk: schema.GroupVersionKind{Group: "radius.k8s.io", Version: "v1", Kind: "Radius"},
			want: Served{Resource: schema.GroupVersionResource{Group: "radius.k8s.io", Version: "v1", Resource: "radii"}, Namespaced: true, Labels: map[string]string{"k": "v"}},
		},
		"Core": {
			reason: "The core group has no name.", gvk: schema.GroupVersionKind{Version: "v1", Kind: "Node"},
			want: Served{Resource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, BuiltIn: true},
		},
		"BuiltIn": {
			reason: "A subresource of the same kind is passed over.", gvk: schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			want: Served{Resource: schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, Namespaced: true, BuiltIn: true},
		},
		"Aggregated": {
			reason: "An aggregated API server has no CRD.", gvk: schema.GroupVersionKind{Group: "aggregated.example.com", Version: "v1", Kind: "Goose"},
			want: Served{Resource: schema.GroupVersionResource{Group: "aggregated.example.com", Version: "v1", Resource: "geese"}, Namespaced: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			mapper, _ := newMapper(t, tc.crds...)
			got, err := mustMap(t, mapper, tc.gvk)
			if err != nil {
				t.Fatalf("Map() = %v\nReason: %s", err, tc.reason)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Map(): -want, +got:\n%s\nReason: %s", diff, tc.reason)
			}
		})
	}
}

func TestFind_KindNotServed_ReturnsErrorWithServedVersions(t *testing.T) {
	mapper, _ := newMapper(t, radiusCRD(), radiusCRD(notEstablished, pending))
	for gvk, want := range map[schema.GroupVersionKind]string{
		{Group: "example.com", Version: "v0", Kind: "Radius"}:          "the cluster does not serve kind Radius at example.com/v0; its CRD serves v1, v2",
		{Group: "pending.example.com", Version: "v1", Kind: "Radius"}:  "the cluster does not serve kind Radius at pending.example.com/v1 yet; its CRD is not established",
		{Group: "example.com", Version: "v1", Kind: "Duck"}:            "the cluster does not serve kind Duck at example.com/v1",
		{Group: "aggregated.example.com", Version: "v1", Kind: "Swan"}: "the cluster does not serve kind Swan at aggregated.example.com/v1",
		{Group: "apps", Version: "v1", Kind: "Scale"}:                  "the cluster does not serve kind Scale at apps/v1",
		{Group: "apps", Version: "v1/deployments", Kind: "Deployment"}: "the cluster does not serve kind Deployment at apps/v1/deployments; did you mean Deployment at apps/v1?",
		{Version: "v1", Kind: "deployment"}:                            "the cluster does not serve kind deployment at v1; did you mean Deployment at apps/v1?",
		{Group: "example.com", Version: "v1", Kind: "radius"}: "the cluster does not serve kind radius at example.com/v1; " +
			"did you mean Radius at example.com/v1 or Radius at example.com/v2 or Radius at pending.example.com/v1?",
		{Group: "aggregated.example.com", Version: "v2", Kind: "Goose"}: "the cluster does not serve kind Goose at aggregated.example.com/v2; did you mean Goose at aggregated.example.com/v1?",
	} {
		t.Run(gvk.String(), func(t *testing.T) {
			_, err := mustMap(t, mapper, gvk)
			if notServed, ok := errors.AsType[*NotServedError](err); !ok || notServed.Kind != gvk || err.Error() != want {
				t.Errorf("Map() = %v, want %s", err, want)
			} else if isOtherVersion := strings.Contains(want, "serves v1, v2"); isOtherVersion != slices.Equal(notServed.Versions, []string{"v1", "v2"}) {
				t.Errorf("it is served at %q; %s", notServed.Versions, want)
			}
		})
	}
}

func TestChanged_CRDs_ReturnsResourcesNoLongerServed(t *testing.T) {
	resource := func(group, version, resource string) schema.GroupVersionResource {
		return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
	}
	for name, tc := range map[string]struct {
		resource         schema.GroupVersionResource
		changed, deleted bool
	}{
		"served":            {resource("example.com", "v1", "radii"), false, true},
		"another version":   {resource("example.com", "v2", "radii"), false, true},
		"not served":        {resource("example.com", "v0", "radii"), true, true},
		"of another kind":   {resource("example.com", "v0", "geese"), false, false},
		"of another group":  {resource("example.org", "v0", "radii"), false, false},
		"taken out of spec": {resource("example.com", "v1alpha1", "radii"), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			mapper, _ := newMapper(t)
			if got := mapper.Changed(radiusCRD(), false)(tc.resource); got != tc.changed {
				t.Errorf("reported after the CRD changed: %t, want %t", got, tc.changed)
			}
			if got := mapper.Changed(radiusCRD(), true)(tc.resource); got != tc.deleted {
				t.Errorf("reported after the CRD was deleted: %t, want %t", got, tc.deleted)
			}
		})
	}
}

// The controllers of a process share its informers.
func TestMapper_TwoOverOneInformer_ShareTheIndex(t *testing.T) {
	one, discovery := newMapper(t, radiusCRD())
	other, err := NewMapper(t.Context(), one.crds, discovery, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, mapper := range []*Mapper{one, other} {
		if _, err := mapper.Map(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Radius"}); err != nil {
			t.Error(err)
		}
	}
}

func TestBuiltInGroups_Kubernetes_AreComplete(t *testing.T) {
	for group, want := range map[string]bool{
		"": true, "apps": true, "networking.k8s.io": true, "example.com": false, "samples.knative.dev": false, "k8s.io.example.com": false,
	} {
		if got := isBuiltIn(group); got != want {
			t.Errorf("isBuiltIn(%q) = %t", group, got)
		}
	}
}
