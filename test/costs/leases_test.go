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
	const renewals = 60
	harness.Eventually(t, "the leases are renewed", func(context.Context) error {
		if n := len(mark.Entries(t, user, leases, harness.ByVerb("update"))); n < renewals {
			return fmt.Errorf("%d times", n)
		}
		return nil
	})
	entries := mark.Entries(t, user, leases)
	spent := entries[len(entries)-1].Time.Sub(entries[0].Time)
	perMinute := func(verb string) float64 {
		return float64(len(mark.Entries(t, user, leases, harness.ByVerb(verb)))) / spent.Minutes()
	}
	writes, reads := perMinute("update"), perMinute("get")
	webhook := len(mark.Entries(t, harness.ByUser(env.User("webhook")), leases, harness.ByVerb("update")))
	t.Logf("a leader and a standby: %.0f writes and %.0f reads a minute; the webhook %d writes; seen for %v", writes, reads, webhook, spent.Round(time.Second))
	// Six leases with the retry-period of 10s of knative.dev/pkg. Each can be renewed at both ends.
	if most := 6 * (1 + spent.Minutes()*6); float64(webhook) > most {
		t.Errorf("the webhook has written its leases %d times, want at most %.0f", webhook, most)
	}
	// Three kinds with a retry-period of 750ms. One of each fits in at the ends of what was seen.
	if most := 3 * 80 * 1.05; writes > most || reads > most {
		t.Errorf("there are %.0f writes and %.0f reads a minute, want %.0f of each at most", writes, reads, most)
	}
}
