//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestWebhook_ReplicaStops_NoRequestFails(t *testing.T) {
	t.Parallel()
	// Shorter than usual, since the harness kills what has not ended after 5 s.
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1),
		harness.WithEnv("webhook", "WEBHOOK_GRACE_PERIOD", "2s"), harness.WithEnv("webhook-1", "WEBHOOK_GRACE_PERIOD", "2s"))
	l := startLoad(t, env)
	// Each in its turn, as in a rollout.
	for _, name := range []string{"webhook", "webhook-1"} {
		l.awaitMore(t, 200)
		env.Process(t, name).Stop(t)
		l.awaitMore(t, 200)
		env.Process(t, name).Start(t)
	}
	l.awaitMore(t, 200)
	l.end(t)
}

func TestWebhook_ReplicaKilled_TheOtherTakesOver(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1))
	ns := env.Namespace(t)
	env.Process(t, "webhook").Kill(t)
	harness.Eventually(t, "objects are admitted", func(context.Context) error {
		_, err := env.TryApply(t, ns, fixtures.Target+"---"+subject)
		return err
	})
	l := startLoad(t, env)
	l.awaitMore(t, 100)
	l.end(t)
}
