/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery/fake"
	clienttesting "k8s.io/client-go/testing"
)

// Each case is an operation that does not fit the kinds of before, and fits those of now.
func TestKinds_HaveChanged_AreDiscoveredBeforeAnError(t *testing.T) {
	serve := func(group string, resources ...metav1.APIResource) *metav1.APIResourceList {
		for i := range resources {
			resources[i].Kind, resources[i].Verbs = "Thing", metav1.Verbs{"get", "patch"}
		}
		return &metav1.APIResourceList{GroupVersion: group, APIResources: resources}
	}
	things := metav1.APIResource{Name: "things", SingularName: "thing", Namespaced: true}
	global, status := things, things
	global.Namespaced, status.Name = false, "things/status"
	patch := MergePatch(Ref{Kind: "Thing", Namespace: "d", Name: "a"}, "{}")
	ofStatus, nowhere := patch, patch
	ofStatus.StatusPatch, nowhere.Namespace = true, ""
	for name, tc := range map[string]struct {
		op          Operation
		class       Class
		before, now []*metav1.APIResourceList
	}{
		"without subresource": {ofStatus, SubresourceNotServed, []*metav1.APIResourceList{serve("a/v1", things)}, []*metav1.APIResourceList{serve("a/v1", things, status)}},
		"in two groups":       {patch, KindAmbiguous, []*metav1.APIResourceList{serve("a/v1", things), serve("b/v1", things)}, []*metav1.APIResourceList{serve("a/v1", things)}},
		"with namespaces":     {nowhere, ScopeMismatch, []*metav1.APIResourceList{serve("a/v1", things)}, []*metav1.APIResourceList{serve("a/v1", global)}},
		"not served":          {patch, KindUnknown, nil, []*metav1.APIResourceList{serve("a/v1", things)}},
	} {
		discoverer := &fake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: tc.before}}
		k := &kinds{discovery: discoverer}
		resolve := func() error {
			_, err := k.find(tc.op.Ref, func(found kind) error { return found.check(tc.op) })
			return err
		}
		if err := resolve(); ClassOf(err) != tc.class {
			t.Errorf("%s: %v", name, err)
		}
		discoverer.Resources, k.discovered = tc.now, time.Time{}
		if err := resolve(); err != nil {
			t.Errorf("%s: after the change: %v", name, err)
		}
	}
}
