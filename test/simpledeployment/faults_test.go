//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestSimpleDeployment_WatchDelayedBy300Milliseconds_KeepsItsBounds(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy := env.Proxy(t, "controller")
	for _, resource := range []string{"pods", "simpledeployments"} {
		proxy.DelayWatches(harness.Matching("watch", resource), 300*time.Millisecond)
	}
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "one", 3)
	owner := uid(t, env, ref)
	throughout(t, env, ns, within(owner, 4, 3), func() {
		change(t, env, ref, `{"image": "two"}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "two", 3)
	throughout(t, env, ns, within(owner, 6, 3), func() {
		change(t, env, ref, `{"image": "three", "replicas": 5}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "three", 5)
	throughout(t, env, ns, within(owner, 6, 2), func() {
		change(t, env, ref, `{"image": "four", "replicas": 2}`)
		env.Await(t, ref, harness.Ready)
	})
	exactly(t, env, ref, "four", 2)
	// With many events each of which is late the Pods come and go under its eyes.
	s, _ := pods(t, env, ns)
	throughout(t, env, ns, within(owner, 3, 0), func() {
		for _, pod := range s.active(owner) {
			env.Delete(t, podRef(ns, pod.Name))
		}
		harness.Eventually(t, "two other Pods", func(context.Context) error {
			now, _ := pods(t, env, ns)
			others := 0
			for _, pod := range now.active(owner) {
				if before := s[pod.Name]; ready(pod) && (before == nil || before.UID != pod.UID) {
					others++
				}
			}
			if others != 2 {
				return errors.New(now.String())
			}
			return nil
		})
		// Until the watch delivers events, the status is unchanged.
		settles(t, env, ref)
	})
	exactly(t, env, ref, "four", 2)
}
