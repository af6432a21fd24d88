//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestAddressBinding_KilledBetweenStatusAndPatch_Converges(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy, controller := env.Proxy(t, "controller"), env.Process(t, "controller")
	w := newWorld(t, env)
	d := w.Apply(t, w.ns, deployment("d", ""))[0]

	// The status lists the variable, and no subject has it.
	held := proxy.Hold(harness.Matching("patch", "deployments").And(harness.InNamespace(w.ns)))
	ab := w.bind(t, "b", byName)
	held.Wait(t)
	controller.Kill(t)
	held.Release()
	controller.Start(t)
	w.Await(t, d, has(address))
	w.Await(t, ab, harness.Ready)

	// The subject has its new value, which the status does not contain yet.
	held = proxy.Hold(harness.Matching("update", "addressbindings/status").And(harness.InNamespace(w.ns)))
	w.setAddress(t, otherAddress)
	held.Wait(t)
	controller.Kill(t)
	held.Release()
	controller.Start(t)
	w.Await(t, d, has(otherAddress))
	w.Await(t, ab, harness.Ready)

	// The binding is deleted, and the process is killed while it removes the variable: the next start removes it.
	held = proxy.Hold(harness.Matching("patch", "deployments").And(harness.InNamespace(w.ns)))
	w.Delete(t, ab)
	held.Wait(t)
	controller.Kill(t)
	held.Release()
	controller.Start(t)
	w.Await(t, ab, harness.Deleted)
	w.Await(t, d, has(""))
}

// TestStaleCaches_SubjectsArePatchedOnce delays the events of subjects: the controller waits for them before it patches again.
func TestStaleCaches_SubjectsArePatchedOnce(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"))
	proxy := env.Proxy(t, "controller")
	w := newWorld(t, env)
	refs := w.Apply(t, w.ns, deployment("d", "bound: to-it")+"---"+deployment("e", "bound: to-it"))
	ab := w.bind(t, "b", byLabel, "variable: OTHER")
	w.Await(t, ab, harness.Ready, counts(2, 2))

	resume := proxy.PauseWatches(harness.Matching("watch", "deployments"))
	mark := w.Mark(t)
	w.setAddress(t, otherAddress)
	for _, ref := range refs {
		w.Await(t, ref, hasVariable("OTHER", otherAddress))
	}
	w.Await(t, ab, harness.Ready, counts(2, 2), hasValue(otherAddress))
	// One more reconciliation is due, and the address changes again.
	w.Patch(t, ab, `{"metadata": {"annotations": {"reconcile": "again"}}}`)
	w.setAddress(t, address)
	if got := w.patches(t, mark, "deployments"); len(got) != 2 {
		t.Errorf("before its caches are current the controller wrote %d times to its subjects, want 2: %v", len(got), got)
	}
	resume()
	for _, ref := range refs {
		w.Await(t, ref, hasVariable("OTHER", address))
	}
	w.Await(t, ab, harness.Ready, counts(2, 2))
	if got := w.patches(t, mark, "deployments"); len(got) != 4 {
		t.Errorf("the controller wrote %d times to its subjects, want 4: %v", len(got), got)
	}
}

// TestStaleCaches_BindingDeleted_NewSubjectsLoseTheVariable delays the events of subjects to the controller, and those of bindings to the webhook.
func TestStaleCaches_BindingDeleted_NewSubjectsLoseTheVariable(t *testing.T) {
	t.Parallel()
	env := harness.Own(t, harness.WithProxy("controller"), harness.WithProxy("webhook"))
	w := newWorld(t, env)
	ab := w.bind(t, "b", byLabel)
	w.AwaitAdmission(t, w.ns, deployment("d", "bound: to-it"), has(address))
	resumeController := env.Proxy(t, "controller").PauseWatches(harness.Matching("watch", "deployments"))
	resumeWebhook := env.Proxy(t, "webhook").PauseWatches(harness.Matching("watch", "addressbindings"))

	refs := w.Apply(t, w.ns, deployment("before", "bound: to-it"))
	mark := w.Mark(t)
	w.Delete(t, ab)
	harness.Eventually(t, "the first list of subjects", func(context.Context) error {
		if lists := mark.Entries(t, harness.ByUser(w.User("controller")), harness.ByRequest(harness.Matching("list", "deployments").And(harness.InNamespace(w.ns)))); len(lists) == 0 {
			return errors.New("no list was sent")
		}
		return nil
	})
	refs = append(refs, w.Apply(t, w.ns, deployment("after", "bound: to-it"))...)
	if err := has(address)(w.get(t, refs[1])); err != nil {
		t.Fatalf("the webhook does not give a new subject the variable: %v", err)
	}
	resumeWebhook()
	w.Await(t, ab, harness.Deleted)
	for _, ref := range refs {
		w.Await(t, ref, has(""), isMarked(false))
	}
	resumeController()
}
