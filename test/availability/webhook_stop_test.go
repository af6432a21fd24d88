//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package availability

import (
	"context"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

func TestWebhook_ReplicaStops_NoRequestFails(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1))
	env.ExpectErrors(t, "leaderelection/leaderelection.go")
	l := startLoad(t, env)
	// Each in its turn, as in a rollout.
	for _, name := range []string{"webhook", "webhook-1"} {
		l.awaitMore(t, 200)
		started := time.Now()
		env.Process(t, name).Stop(t)
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("%s has stopped after %s under load, want at most 10 s", name, took)
		}
		l.awaitMore(t, 200)
		env.Process(t, name).Start(t)
	}
	l.awaitMore(t, 200)
	l.end(t)
}

func TestWebhook_ReplicaKilled_TheOtherTakesOver(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithReplicas("webhook", 2), harness.WithReplicas("controller", 1))
	env.ExpectErrors(t, "leaderelection/leaderelection.go")
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
