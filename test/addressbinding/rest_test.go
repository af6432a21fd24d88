//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestAtRest_NoRequests is about bindings that only the change of a watched object can help. Next to them is one of a kind that the operator
// is not allowed to list: the retries of its informer are the clock.
//
// It has a separate environment: other tests make requests about their bindings.
func TestAtRest_NoRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Own(t))
	const missing, empty, rejected = "missing.example.com", "empty.example.com", "rejected.example.com"
	w.Define(t, workerCRD(empty, anything, true))
	w.Apply(t, w.ns, worker(empty, "k", "{}")+"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cm}\n")
	for name, tc := range map[string]struct{ subject, reason string }{
		"missing": {toWorker(missing, "k"), "SubjectKindNotFound"},
		"empty":   {toWorker(empty, "k"), "SubjectNotPodSpecable"},
		"cm":      {"{apiVersion: v1, kind: ConfigMap, name: cm}", "SubjectKindNotBindable"},
		"node":    {"{apiVersion: v1, kind: Node, name: n1}", "SubjectKindNotBindable"},
	} {
		w.Await(t, w.bind(t, name, tc.subject), notBound(tc.reason))
	}
	w.Define(t, workerCRD(rejected, anything, false))
	w.Await(t, w.bind(t, "rejected", toWorker(rejected, "k")), notBound("SubjectForbidden"))

	about := func(e harness.AuditEntry) bool {
		return (e.User == w.User("controller") || e.User == w.User("webhook")) &&
			(e.Namespace == w.ns || e.Path == "/api/v1" || strings.HasPrefix(e.Path, "/apis/"+missing) || strings.HasPrefix(e.Path, "/apis/"+empty))
	}
	// Reconciliations that their own writes and the new rules trigger, and the one that was postponed while the cache was stale, end after some time.
	atRest, clock := w.Mark(t), 0
	harness.Eventually(t, "three requests of the clock with nothing asked between", func(context.Context) error {
		if entries := atRest.Entries(t, about); len(entries) > 0 {
			atRest = w.Mark(t)
			return fmt.Errorf("%s made a %s of %s", entries[0].User, entries[0].Verb, entries[0].Path)
		}
		if clock = len(asked(t, w, atRest, rejected)); clock < 3 {
			return fmt.Errorf("there were %d", clock)
		}
		return nil
	})
	t.Logf("%d requests of the clock", clock)
}
