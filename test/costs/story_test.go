//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// objects is the number of objects that the test creates.
const objects = 500

// TestCosts_CreateIdleAndRestart_AreBounded is one story: objects are created, stay unchanged, and the controller is restarted. Each part needs the one before.
func TestCosts_CreateIdleAndRestart_AreBounded(t *testing.T) {
	env := harness.Own(t)
	ns := env.Namespace(t)
	createTarget(t, env, ns)
	controller := env.Process(t, "controller")
	logEveryReconciliation(t, env)

	audit, before := env.Mark(t), env.Requests(t)
	batch := addressableServices.create(t, env, ns, objects, 1)
	creating, ready := batch.creating, batch.await(t)
	made := env.Requests(t).Since(before)

	t.Run("OneWriteAnObjectFromCreateToReady", func(t *testing.T) {
		exactly(t, made.Of(harness.Matching("create", "addressableservices")), objects, "creates of the test's own")
		exactly(t, made.Of(harness.Matching("update", "addressableservices/status")), objects, "status writes")
		exactly(t, made.Of(harness.Matching("patch", "addressableservices")), 0, "patches, as of the finalizer")
		exactly(t, made.Of(harness.Matching("get", "addressableservices")), 0, "reads of single objects")
		exactly(t, made.Of(harness.Matching("create", "events")), 0, "events, for no condition went from good to bad or back")
		for answer, n := range made {
			if answer.Code == 409 {
				t.Errorf("there were %d conflicts: %+v", n, answer)
			}
		}
		writes := audit.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), notLeases)
		if len(writes) != objects {
			t.Errorf("the controller wrote %d times, want %d: %v", len(writes), objects, sample(writes))
		}
	})

	t.Run("ReadyWithinTwiceTheTimeOfCreating", func(t *testing.T) {
		t.Logf("creating took %v, until all were Ready %v: %.2f times", creating, ready, ready.Seconds()/creating.Seconds())
		if ready > 2*creating {
			t.Errorf("all were Ready after %v, more than twice the %v that creating them took", ready, creating)
		}
	})

	t.Run("NoWritesAtRest", func(t *testing.T) {
		// A reconciliation of every object, which the ConfigMap triggers although nothing that concerns these objects changes.
		mark := env.Mark(t)
		awaitReconciliations(t, env, ns, func() {
			env.SetConfig(t, "config-addressable", map[string]string{"domain": "resync.example.com"})
		})
		noWrites(t, env, mark)
	})

	t.Run("NoWritesAfterARestart", func(t *testing.T) {
		mark := env.Mark(t)
		awaitReconciliations(t, env, ns, func() { controller.Restart(t) })
		noWrites(t, env, mark)
	})
}

// logEveryReconciliation has the controller log all reconciliations, of which it otherwise leaves most
// out when there are many a second. It is the only setting that is not the default.
func logEveryReconciliation(t *testing.T, env *harness.Env) {
	t.Helper()
	env.SetConfig(t, "config-logging", map[string]string{"zap-logger-config": `{"level": "info", "sampling": null}`})
	env.Process(t, "controller").Restart(t)
}

// awaitReconciliations causes a reconciliation of every object and returns once the controller's log contains each.
func awaitReconciliations(t *testing.T, env *harness.Env, ns string, cause func()) {
	t.Helper()
	controller := env.Process(t, "controller")
	from := len(controller.Log(t))
	cause()
	harness.Eventually(t, "a reconciliation of every object", func(context.Context) error {
		reconciled := map[string]bool{}
		for line := range strings.Lines(controller.Log(t)[from:]) {
			var entry struct {
				Message string `json:"message"`
				Key     string `json:"knative.dev/key"`
			}
			if json.Unmarshal([]byte(line), &entry) == nil && entry.Message == "Reconcile succeeded" && strings.HasPrefix(entry.Key, ns+"/") {
				reconciled[entry.Key] = true
			}
		}
		if len(reconciled) < objects {
			return fmt.Errorf("there were reconciliations of %d of %d objects", len(reconciled), objects)
		}
		return nil
	})
}

// noWrites fails when the controller wrote to anything but leases.
func noWrites(t *testing.T, env *harness.Env, mark harness.Mark) {
	t.Helper()
	writes := mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), notLeases)
	if len(writes) > 0 {
		t.Errorf("the controller wrote %d times, want none: %v", len(writes), sample(writes))
	}
}

func notLeases(e harness.AuditEntry) bool { return e.Resource != "leases" }

func exactly(t *testing.T, requests harness.Requests, want int, what string) {
	t.Helper()
	if got := requests.Total(); got != want {
		t.Errorf("%s: %d, want %d:\n%s", what, got, want, requests)
	}
}

func sample(entries []harness.AuditEntry) []harness.AuditEntry { return entries[:min(len(entries), 5)] }
