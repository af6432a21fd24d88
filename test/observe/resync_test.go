//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestObserver_Resync_RepeatsObjectsWithoutRequests(t *testing.T) {
	each(t, func(t *testing.T, s *scene) {
		s.create(t, "a", "1")
		s.settle(t, 1)
		var never journal
		s.subscribe(t, "never", never.record)
		never.await(t, "Added a listed")
		for name, o := range ways {
			o.Resync = time.Second
			var often journal
			s.subscribe(t, name, often.record, o)
			requests := s.proxy.Count(s.ours())
			harness.Eventually(t, "three repetitions", func(context.Context) error {
				got := often.read()
				if i := slices.IndexFunc(got, func(entry string) bool { return entry != "Added a listed" && entry != "Updated a 1→1 resync" }); i >= 0 {
					t.Errorf("%s: the observer received %q", name, got[i])
				}
				if len(got) < 4 {
					return fmt.Errorf("there are %q", got)
				}
				return nil
			})
			if n := requests(); n != 0 {
				t.Errorf("%s: there were %d requests, want none", name, n)
			}
		}
		never.await(t, "Added a listed")
	})
}
