//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestAddressableService_NoPermissionToRead_ConditionNamesTheGrant(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	k := newKind(ns)
	crd := env.Apply(t, "", k.crd())[0]
	removeAtEnd(t, env, crd)
	env.Await(t, crd, harness.HasCondition("Established", "True", ""))
	env.Apply(t, ns, k.named("it", "{address: {url: 'http://it.example.com'}}"))
	as := env.Apply(t, ns, object("it", to(k.apiVersion(), k.kind, "it")))[0]
	env.Await(t, as, harness.HasCondition("TargetResolved", "Unknown", v1.ReasonTargetForbidden), says(`cannot list resource "radii" in API group "`+k.group))

	// No watch delivers changes of permissions: the list is retried with back-off.
	role := env.Apply(t, "", k.role())[0]
	removeAtEnd(t, env, role)
	env.Await(t, as, harness.Ready, hasURLs("http://it.example.com"))
}
