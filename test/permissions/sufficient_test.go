//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package permissions

import (
	"net/http"
	"slices"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestPermissions_Grants_AreAllUsedAndSufficient makes the operator send all requests that it can send, and compares them with the grants.
// The other suites cause a part of these requests.
func TestPermissions_Grants_AreAllUsedAndSufficient(t *testing.T) {
	options := []harness.Option{harness.WithOverlay("hooks"), harness.WithProxy("controller")}
	for _, name := range accounts {
		// client-go lists only when an API server cannot stream what there is, as
		// an older one. The permission is for that, so it is tried that way.
		options = append(options, harness.Without(name), harness.WithEnv(name, "KUBE_FEATURE_WatchListClient", "false"))
	}
	env := harness.Own(t, options...)
	mark := env.Mark(t)
	for _, name := range []string{"webhook", "controller", "hooks"} {
		env.Process(t, name).Start(t)
	}
	for _, live := range lives {
		live(t, env)
	}
	// A watch is in the log once it has ended, and leases are given up at the end.
	for _, name := range accounts {
		env.Process(t, name).Stop(t)
	}

	entries := mark.Entries(t)
	for _, account := range accounts {
		for _, e := range entries {
			if e.User == env.User(account) && (e.Code == http.StatusForbidden || e.Code == http.StatusUnauthorized) {
				t.Errorf("%s was rejected: %s %s/%s %s/%s", account, e.Verb, e.Group, e.Resource, e.Namespace, e.Name)
			}
		}
	}
	for _, g := range granted(t) {
		used := slices.ContainsFunc(entries, func(e harness.AuditEntry) bool {
			return e.User == env.User(g.account) && g.usedBy(e)
		})
		if !used && !g.checkedByAdmission() {
			t.Errorf("granted but never used: %s", g)
		}
	}
}
