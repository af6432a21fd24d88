//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

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

// TestSimpleDeployment_SteadyStateAndRestart_WriteNothing has reconciliations take place although there is nothing to do, by a change that concerns no Pod and
// by a restart.
func TestSimpleDeployment_SteadyStateAndRestart_WriteNothing(t *testing.T) {
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
