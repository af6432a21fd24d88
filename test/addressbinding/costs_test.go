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

	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// subjects is the number of subjects that the test of costs creates.
const subjects = 200

// TestAddressBinding_TwoHundredSubjects_CostsAreBounded is one sequence: two hundred subjects are bound; nothing changes; the controller is
// restarted; a subject is added; a binding is added; a subject is changed; and the address changes.
func TestAddressBinding_TwoHundredSubjects_CostsAreBounded(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	w := newWorld(t, env)
	var manifests []string
	for i := range subjects {
		manifests = append(manifests, deployment(fmt.Sprintf("d%03d", i), "bound: to-it"))
	}
	w.Apply(t, w.ns, strings.Join(manifests, "---"))
	mark := w.Mark(t)
	ab := w.bind(t, "b", byLabel)
	began := time.Now()
	w.Await(t, ab, harness.HasCondition("SubjectsBound", "True", ""), counts(subjects, subjects))
	t.Logf("bound %d subjects in %s", subjects, time.Since(began).Round(time.Millisecond))
	w.exactlyOnce(t, mark, subjects)
	w.Await(t, ab, harness.Ready)

	w.atRest(t, "steady state", func() {
		// A reconciliation of the binding without a trigger.
		w.Patch(t, ab, `{"metadata": {"annotations": {"passes": "1"}}}`)
	})
	w.atRest(t, "after a restart", func() { env.Process(t, "controller").Restart(t) })

	mark = w.Mark(t)
	late := w.Apply(t, w.ns, deployment("late", "bound: to-it"))[0]
	if err := has(address)(w.get(t, late)); err != nil {
		t.Errorf("a new subject does not start with its address: %v", err)
	}
	w.Await(t, ab, harness.Ready, counts(subjects+1, subjects+1))
	if got := w.patches(t, mark, "deployments"); len(got) > 0 {
		t.Errorf("a new subject costs writes of the controller: %v", got)
	}

	// They all have what another binding wants of them.
	mark = w.Mark(t)
	again := w.bind(t, "c", byLabel)
	w.Await(t, again, harness.Ready, counts(subjects+1, subjects+1))
	if got := w.patches(t, mark, "deployments"); len(got) > 0 {
		t.Errorf("bound subjects were written to %d times", len(got))
	}

	// A subject that is made to differ costs its own patch and no other. The webhook ignores writes of our field manager, and would restore
	// the variable after others.
	mark = w.Mark(t)
	one := deployments(w.ns, "d007")
	w.patchAsOurs(t, one, `{"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "main"}], "initContainers": null}}}}`)
	w.Await(t, one, has(address))
	w.exactlyOnce(t, mark, 1)

	mark = w.Mark(t)
	w.setAddress(t, otherAddress)
	w.Await(t, late, has(otherAddress))
	for _, ref := range []harness.Ref{ab, again} {
		w.Await(t, ref, harness.Ready, counts(subjects+1, subjects+1), hasValue(otherAddress))
	}
	w.exactlyOnce(t, mark, subjects+1)
}

// atRest fails if the controller writes anything in the namespace because of something that changes nothing.
func (w *world) atRest(t *testing.T, when string, cause func()) {
	t.Helper()
	ab, err := w.binding(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	controller := w.Process(t, "controller")
	mark, from := w.Mark(t), len(controller.Log(t))
	cause()
	harness.Eventually(t, when+": a reconciliation of the binding", func(context.Context) error {
		log := controller.Log(t)
		if len(log) < from {
			from = 0
		}
		for line := range strings.Lines(log[from:]) {
			if strings.Contains(line, `"Reconcile succeeded"`) && strings.Contains(line, `"`+w.ns+`/b"`) {
				return nil
			}
		}
		return errors.New("no such event")
	})
	for _, e := range mark.Entries(t, harness.Writes, harness.ByUser(w.User("controller")), harness.ByRequest(harness.InNamespace(w.ns))) {
		t.Errorf("%s: the controller made a %s of %s %s", when, e.Verb, e.Resource, e.Name)
	}
	after, err := w.binding(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ab.Status, after.Status); diff != "" {
		t.Errorf("%s: the status has changed (-before, +after):\n%s", when, diff)
	}
}
