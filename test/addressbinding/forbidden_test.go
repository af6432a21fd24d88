//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestKindForbidden_NothingIsRecorded_GrantedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	const group = "forbidden.example.com"
	w.Define(t, workerCRD(group, anything, false))
	k := w.Apply(t, w.ns, worker(group, "k", withContainers))[0]
	first, began := w.Mark(t), time.Now()
	ab := w.bind(t, "b", toWorker(group, "k"))
	w.Await(t, ab, notBound("SubjectForbidden"), harness.HasCondition("Intercepted", "Unknown", "SubjectForbidden"))

	// A binding that has changed nothing can be deleted at once.
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	ab = w.bind(t, "b", toWorker(group, "k"))
	w.Await(t, ab, notBound("SubjectForbidden"))
	w.Define(t, grant(group))
	w.Await(t, k, has(address), isMarked(true))
	w.Await(t, ab, harness.Ready)
	// Among them are those of the informer, and the patch.
	n, most := len(asked(t, w, first, group)), 20
	t.Logf("%d requests in %s", n, time.Since(began).Round(time.Millisecond))
	if n > most {
		t.Errorf("there were %d requests, want at most %d", n, most)
	}
}

// asked are the requests of the controller for the workers of a group.
func asked(t *testing.T, w *world, mark harness.Mark, group string) []harness.AuditEntry {
	t.Helper()
	return mark.Entries(t, harness.ByUser(w.User("controller")), func(e harness.AuditEntry) bool { return e.Group == group })
}

func TestPermissionRevoked_FinalizerIsKeptUntilGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	const group = "revoked.example.com"
	w.ExpectErrors(t, "workers."+group+" is forbidden")
	w.Define(t, workerCRD(group, anything, false))
	role := w.Apply(t, "", grant(group))[0]
	k := w.Apply(t, w.ns, worker(group, "k", withContainers))[0]
	ab := w.bind(t, "b", toWorker(group, "k"))
	w.Await(t, k, has(address))
	w.Await(t, ab, harness.Ready)
	w.Delete(t, role)
	harness.Eventually(t, "the permission is revoked", func(context.Context) error {
		out, err := w.TryKubectl(t, "", "auth", "can-i", "patch", "workers."+group, "-n", w.ns, "--as", w.User("controller"))
		if strings.TrimSpace(out) != "no" {
			return fmt.Errorf("it exists: %s (%w)", out, errors.Join(err))
		}
		return nil
	})
	w.Delete(t, ab)
	w.Await(t, ab, notBound("SubjectForbidden"))
	w.Define(t, grant(group))
	w.Await(t, ab, harness.Deleted)
	w.Await(t, k, has(""))
}
