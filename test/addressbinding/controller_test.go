/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// triggered bounds waits for effects that only an event of the subject can trigger, also on a busy machine. Hardening waits up to 10 s for the event of
// an own write, after which there may be a reconciliation without a trigger.
const triggered = 10 * time.Second * 2 / 3

// TestAddressBinding_SubjectAdmittedWithoutVariable_IsPatched: the webhook ignores our own writes, and admits subjects unchanged if the cache of its
// replica is stale.
func TestAddressBinding_SubjectAdmittedWithoutVariable_IsPatched(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, tc := range map[string]struct {
		out, back string
		during    []harness.Condition
	}{
		"LeavesTheSelector": {
			`{"metadata": {"labels": {"bound": null}}}`, `{"metadata": {"labels": {"bound": "to-it"}}}`,
			[]harness.Condition{harness.Ready, counts(1, 1)},
		},
		"OptsOut": {
			`{"metadata": {"labels": {"bindings.knative.dev/exclude": "true"}}}`, `{"metadata": {"labels": {"bindings.knative.dev/exclude": null}}}`,
			[]harness.Condition{notBound("Excluded"), counts(2, 1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, env)
			refs := w.Apply(t, w.ns, deployment("d", "bound: to-it")+"---"+deployment("e", "bound: to-it"))
			ab := w.bind(t, "b", byLabel)
			w.Await(t, ab, harness.Ready, counts(2, 2))

			mark := w.Mark(t)
			if err := has(address)(w.patchAsOurs(t, refs[0], tc.out)); err != nil {
				t.Errorf("admission has taken the variable out: %v", err)
			}
			w.AwaitWithin(t, triggered, refs[0], has(""))
			w.Await(t, ab, tc.during...)
			w.exactlyOnce(t, mark, 1)

			mark = w.Mark(t)
			if err := has("")(w.patchAsOurs(t, refs[0], tc.back)); err != nil {
				t.Errorf("admission has given it the variable: %v", err)
			}
			w.AwaitWithin(t, triggered, refs[0], has(address))
			w.Await(t, ab, harness.Ready, counts(2, 2))
			w.exactlyOnce(t, mark, 1)
			w.Await(t, refs[1], has(address))
		})
	}
}
