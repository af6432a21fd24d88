//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestCosts_Lease_IsAFewRequestsPerSecond counts the requests of a leader and a standby, and of the webhook, while nothing else happens.
func TestCosts_Lease_IsAFewRequestsPerSecond(t *testing.T) {
	env := harness.Own(t, harness.WithReplicas("controller", 2), harness.WithReplicas("webhook", 1))
	mark := env.Mark(t)
	leases := harness.ByRequest(harness.Matching("*", "leases"))
	user := harness.ByUser(env.User("controller"))
	const renewals = 15
	harness.Eventually(t, "the leases are renewed", func(context.Context) error {
		if n := len(mark.Entries(t, user, leases, harness.ByVerb("update"))); n < renewals {
			return fmt.Errorf("%d times", n)
		}
		return nil
	})
	entries := mark.Entries(t, user, leases)
	spent := entries[len(entries)-1].Time.Sub(entries[0].Time)
	count := map[string]int{}
	for _, entry := range entries {
		count[entry.Verb]++
	}
	webhook := len(mark.Entries(t, harness.ByUser(env.User("webhook")), leases, harness.ByVerb("update")))
	t.Logf("a leader and a standby: %v; the webhook: %d updates; seen for %v", count, webhook, spent.Round(time.Second))
	// Six leases with the retry-period of 10s of knative.dev/pkg. Each can be renewed at both ends.
	if most := 6 * (1 + spent.Minutes()*6); float64(webhook) > most {
		t.Errorf("the webhook has written its leases %d times, want at most %.0f", webhook, most)
	}
	// Three kinds with a retry-period of 750ms. The leader sends each fifth renewal: after four without one it would lead for 10s and two periods more, which is
	// less than the 15s of the lease. Each lease can be read and renewed at both ends of what was seen.
	const retryPeriod = 750 * time.Millisecond
	for verb, every := range map[string]time.Duration{"update": 5 * retryPeriod, "get": retryPeriod} {
		if most := 3 * (1 + int(spent/every)); count[verb] > most {
			t.Errorf("%d requests have the verb %s, want at most %d", count[verb], verb, most)
		}
	}
}
