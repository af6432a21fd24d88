//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package admission

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// The schema must not rely on the webhook, which may be down. Older versions are not served then, because they need the conversion webhook.
// In an excluded namespace, conversion works although admission is not called.
func TestSchema_WithoutTheWebhook_EnforcesEachBound(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.AllVersions(), harness.Without("controller"), harness.WithReplicas("webhook", 1))
	stopAdmission(t, env)
	for _, version := range old {
		t.Run(version, func(t *testing.T) { checkSchema(t, env, version) })
	}
	env.Process(t, "webhook").Stop(t)
	for _, version := range old {
		if _, err := tryCreate(t, env, objectAt(version, env.Namespace(t))); err == nil {
			t.Errorf("the webhook still converts objects of %s", version)
		}
	}
	t.Run(hub, func(t *testing.T) { checkSchema(t, env, hub) })
}

func checkSchema(t *testing.T, env *harness.Env, version string) {
	t.Helper()
	ns := env.Namespace(t)
	subject := create(t, env, objectAt(version, ns))
	for _, b := range bounds[version] {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			for _, change := range b.rejected {
				checkRejected(t, env, subject, objectAt(version, ns, change), b.rejection())
			}
			for _, change := range b.accepted {
				checkAccepted(t, env, objectAt(version, ns, change))
			}
		})
	}
}
