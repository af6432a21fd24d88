/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// TestConfig_OlderVersions_CostNothing shows that no write of an object is converted to the older versions, which config/ does not serve.
func TestConfig_OlderVersions_CostNothing(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	env.Apply(t, ns, fixtures.Target)
	as := env.Apply(t, ns, object("it", "", ""))[0]
	env.Await(t, as, harness.Ready)
	env.Patch(t, as, `{"spec": {"path": "/new"}}`)
	env.Await(t, as, hasURL("http://target."+ns+".svc.cluster.local/new"))
	env.Delete(t, as)
	env.Await(t, as, harness.Deleted)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		_, err := env.Dynamic.Resource(as.Resource.GroupResource().WithVersion(version)).Namespace(ns).List(t.Context(), metav1.ListOptions{})
		if !apierrors.IsNotFound(err) {
			t.Errorf("a list at %s: got error %v, want one that the API server does not serve it", version, err)
		}
	}
	if n := env.Conversions(t, as.Resource.GroupResource()); n != 0 {
		t.Errorf("the webhook has converted %d objects, want none", n)
	}
}
