//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// A release that stores objects at a newer version is rolled back: they are moved down to v1alpha1, which has no field for most
// of what they say, among it what a still later release has stashed. Once they are moved up again, etcd holds what it held.
func TestMigrate_DownForARollback_LosesNothing(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions())
	k := newOperatorKind(t, env)
	env.Apply(t, k.namespace, fixtures.Target)
	const (
		n     = 5
		later = `{"e":{"v99/probe":{"d":{"path":"/healthy"}}},"f":1}`
	)
	k.publish(t, n, map[string]string{fixtures.Stash: later})
	was, before := k.list(t), env.StoredOf(t, k.resource)

	fixtures.StoreAt(t, env, "v1alpha1")
	k.migrate(t)
	if got := fmt.Sprint(k.storedAt(t), k.crd(t).Status.StoredVersions); got != fmt.Sprintf("map[v1alpha1:%d] [v1alpha1]", n) {
		t.Errorf("objects are stored at %s, want all at v1alpha1", got)
	}
	for name, value := range env.StoredOf(t, k.resource) {
		for _, kept := range []string{`v1beta1/path`, `v1/publish`, `v99/probe`, `/healthy`} {
			if !strings.Contains(value, kept) {
				t.Errorf("%s is stored without %s: %s", name, kept, value)
			}
		}
	}
	k.expectUnchanged(t, was)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		list, err := env.Dynamic.Resource(k.resource.WithVersion(version)).Namespace(k.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != n {
			t.Errorf("listing %d objects at %s: %v", n, version, err)
		}
	}

	fixtures.StoreAt(t, env, "v1")
	k.migrate(t)
	k.expectStored(t, n)
	if diff := cmp.Diff(before, env.StoredOf(t, k.resource)); diff != "" {
		t.Errorf("down and up again, etcd holds something else (-before +after):\n%s", diff)
	}
}
