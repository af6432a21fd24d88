/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestAddressBinding_AddressChanges_SubjectsFollow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	refs := w.Apply(t, w.ns, deployment("d", "bound: to-it")+"---"+deployment("e", "bound: to-it"))
	ab := w.bind(t, "b", byLabel)
	w.Await(t, ab, harness.Ready, counts(2, 2))
	w.setAddress(t, otherAddress)
	for _, ref := range refs {
		w.Await(t, ref, has(otherAddress))
	}
	w.Await(t, ab, harness.Ready, counts(2, 2))
	w.setAddress(t, "")
	w.Await(t, ab, harness.HasCondition("AddressResolved", "False", "AddressNotReady"))
	for _, ref := range refs {
		w.Await(t, ref, has(""))
	}
	w.setAddress(t, address)
	for _, ref := range refs {
		w.Await(t, ref, has(address))
	}
	w.Await(t, ab, harness.Ready)
}

func TestAddressBinding_SubjectReferenceChanges_VariableMoves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	refs := w.Apply(t, w.ns, deployment("d", "")+"---"+deployment("e", "bound: to-it")+`---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: s}
spec:
  serviceName: s
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: c}]}}
`)
	ab := w.bind(t, "b", byName)
	w.Await(t, refs[0], has(address))
	for _, step := range []struct {
		change, variable string
		bound            int
	}{
		{`{"spec": {"subject": {"name": null, "selector": {"matchLabels": {"bound": "to-it"}}}}}`, "K_ADDRESS", 1},
		{`{"spec": {"variable": "PEER"}}`, "PEER", 1},
		{`{"spec": {"subject": {"kind": "StatefulSet", "name": "s", "selector": null}}}`, "PEER", 2},
		{`{"spec": {"subject": {"kind": "Deployment", "name": "d"}, "variable": "K_ADDRESS"}}`, "K_ADDRESS", 0},
	} {
		w.Patch(t, ab, step.change)
		w.Await(t, ab, harness.Ready, counts(1, 1))
		for i, ref := range refs {
			for _, variable := range []string{"K_ADDRESS", "PEER"} {
				want := ""
				if i == step.bound && variable == step.variable {
					want = address
				}
				w.Await(t, ref, hasVariable(variable, want))
			}
		}
	}
}

func TestAddressBinding_OptInChangesWhileBound_IsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	ab := w.bind(t, "b", byName)
	w.Await(t, ab, harness.Ready)
	w.label(t, "null")
	w.Await(t, d, has(""))
	w.Await(t, ab, notBound("NotIncluded"), counts(1, 0))
	w.Patch(t, d, `{"metadata": {"labels": {"bindings.knative.dev/include": "true"}}}`)
	w.Await(t, d, has(address))
	w.Await(t, ab, harness.Ready)
	w.Patch(t, d, `{"metadata": {"labels": {"bindings.knative.dev/exclude": "true"}}}`)
	w.Await(t, d, has(""), isMarked(false))
	w.Await(t, ab, notBound("Excluded"))
	w.Patch(t, d, `{"metadata": {"labels": {"bindings.knative.dev/exclude": null, "bindings.knative.dev/include": null}}}`)
	w.label(t, `"true"`)
	w.Await(t, d, has(address))
	w.Await(t, ab, harness.Ready)
}
