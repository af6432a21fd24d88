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

// awaitReconciliations waits until the log contains a reconciliation of each object after an offset.
func awaitReconciliations(t *testing.T, process *harness.Process, from int, refs []harness.Ref) {
	t.Helper()
	harness.Eventually(t, "a reconciliation of each object", func(context.Context) error {
		took := reconciliations(t, process, from)
		for _, ref := range refs {
			if len(took[ref.Namespace+"/"+ref.Name]) == 0 {
				return fmt.Errorf("there was no reconciliation of %s: %v", ref.Name, took)
			}
		}
		return nil
	})
}

// TestSimpleDeployment_SteadyState_WritesNothing has reconciliations take place although there is nothing to do, by a change that concerns no Pod and
// by a restart.
func TestSimpleDeployment_SteadyState_WritesNothing(t *testing.T) {
	env := harness.Own(t)
	ns := env.Namespace(t)
	controller := env.Process(t, "controller")
	var refs []harness.Ref
	for i := range 10 {
		refs = append(refs, env.Apply(t, ns, object(fmt.Sprintf("it-%d", i), "one", 2))[0])
	}
	for _, ref := range refs {
		env.Await(t, ref, harness.Ready)
	}
	mark, from := env.Mark(t), len(controller.Log(t))
	for _, ref := range refs {
		env.Patch(t, ref, `{"metadata": {"annotations": {"a": "b"}}}`)
	}
	awaitReconciliations(t, controller, from, refs)
	controller.Stop(t)
	from = len(controller.Log(t))
	controller.Start(t)
	awaitReconciliations(t, controller, from, refs)
	writes := mark.Entries(t, harness.Writes, harness.ByUser(env.User("controller")), func(e harness.AuditEntry) bool { return e.Resource != "leases" })
	if len(writes) > 0 {
		t.Errorf("the controller wrote %d times, want none: %v", len(writes), writes[:min(len(writes), 5)])
	}
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByRequest(harness.InNamespace(ns))) {
		t.Errorf("in the steady state the controller reads single namespaces: %+v", e)
	}
}
