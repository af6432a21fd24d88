/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package leader

import (
	"strings"
	"testing"
	"time"

	"knative.dev/pkg/leaderelection"
)

func TestTimes_Inconsistent_AreRejectedWithTheKey(t *testing.T) {
	for name, tc := range map[string]struct {
		lease, renew, retry time.Duration
		want                string
	}{
		"ours":                   {15 * time.Second, 10 * time.Second, 500 * time.Millisecond, ""},
		"knative's":              {60 * time.Second, 40 * time.Second, 10 * time.Second, ""},
		"Kubernetes'":            {15 * time.Second, 10 * time.Second, 2 * time.Second, ""},
		"deadline within jitter": {15 * time.Second, time.Second, time.Second, "renew-deadline: must be longer than 1.2s"},
		"lease as the deadline":  {10 * time.Second, 10 * time.Second, time.Second, "lease-duration: must be at least 13s"},
		"no room for writes":     {12 * time.Second, 10 * time.Second, time.Second, "lease-duration: must be at least 13s"},
		"part of a second":       {15500 * time.Millisecond, 10 * time.Second, time.Second, "lease-duration: must be whole seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(&leaderelection.Config{LeaseDuration: tc.lease, RenewDeadline: tc.renew, RetryPeriod: tc.retry})
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("rejected: %v", err)
			case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
				t.Errorf("got error %v, want one that begins with %q", err, tc.want)
			}
		})
	}
}
