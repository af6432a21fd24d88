/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// reconciliations returns the duration of each successful reconciliation of a SimpleDeployment, by object key, from the log of a process after an offset.
func reconciliations(t *testing.T, process *harness.Process, from int) map[string][]time.Duration {
	t.Helper()
	took := map[string][]time.Duration{}
	for line := range strings.Lines(process.Log(t)[from:]) {
		var entry struct {
			Message    string `json:"message"`
			Controller string `json:"knative.dev/controller"`
			Key        string `json:"knative.dev/key"`
			Duration   string `json:"duration"`
		}
		// The last line may be one that is being written.
		if json.Unmarshal([]byte(line), &entry) != nil || entry.Message != "Reconcile succeeded" || !strings.HasSuffix(entry.Controller, "simpledeployment.Reconciler") {
			continue
		}
		duration, err := time.ParseDuration(entry.Duration)
		if err != nil {
			t.Fatalf("reading the log: %v: %s", err, line)
		}
		took[entry.Key] = append(took[entry.Key], duration)
	}
	return took
}

// TestSimpleDeployment_SteadyState_WritesNothing has reconciliations take place although there is nothing to do, by a change that concerns no Pod.
func TestSimpleDeployment_SteadyState_WritesNothing(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	ns := env.Namespace(t)
	controller := env.Process(t, "controller")
	refs := env.Apply(t, ns, object("one", "one", 2)+"---\n"+object("two", "one", 1))
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready)
		settles(t, env, ref)
	}
	mark, from, change := env.Mark(t), len(controller.Log(t)), 0
	// The log of a busy process leaves out lines, perhaps that of a first change.
	harness.Eventually(t, "a reconciliation of each object", func(context.Context) error {
		took := reconciliations(t, controller, from)
		change++
		for _, ref := range refs {
			if len(took[ref.Namespace+"/"+ref.Name]) == 0 {
				env.Patch(t, ref, fmt.Sprintf(`{"metadata": {"annotations": {"change": "%d"}}}`, change))
				return fmt.Errorf("there was no reconciliation of %s", ref.Name)
			}
		}
		return nil
	})
	inNamespace := harness.ByRequest(harness.InNamespace(ns))
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller")), inNamespace) {
		t.Errorf("in the steady state the controller wrote, or read a single namespace: %+v", e)
	}
}
