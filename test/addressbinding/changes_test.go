/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"fmt"
	"strings"
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

func TestAddressBinding_AddressableServiceDeleted_VariableIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	ab := w.bind(t, "b", byName)
	w.Await(t, ab, harness.Ready)
	hello := ab
	hello.Resource.Resource, hello.Name = "addressableservices", "hello"
	w.Delete(t, hello)
	w.Await(t, d, has(""))
	w.Await(t, ab, harness.HasCondition("Ready", "False", "AddressNotFound"))
}

func TestAddressBinding_Deleted_VariableIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	before := w.get(t, d)
	ab := w.bind(t, "b", byName)
	w.Await(t, d, has(address))
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
	after := w.get(t, d)
	for container, variables := range environments(before, podTemplate...) {
		if got := environments(after, podTemplate...)[container]; strings.Join(got, ",") != strings.Join(variables, ",") {
			t.Errorf("container %s has variables %q, want %q as before", container, got, variables)
		}
	}
}

func TestAddressBinding_SubjectLeavesTheSelector_VariableIsRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	refs := w.Apply(t, w.ns, deployment("d", "bound: to-it")+"---"+deployment("e", "bound: to-it"))
	ab := w.bind(t, "b", byLabel)
	w.Await(t, ab, harness.Ready, counts(2, 2))
	w.Patch(t, refs[0], `{"metadata": {"labels": {"bound": null}}}`)
	w.Await(t, refs[0], has(""))
	w.Await(t, ab, harness.Ready, counts(1, 1))
	w.Await(t, refs[1], has(address))
	w.Patch(t, refs[0], `{"metadata": {"labels": {"bound": "to-it"}}}`)
	w.Await(t, refs[0], has(address))
	w.Await(t, ab, harness.Ready, counts(2, 2))
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

func TestAddressBinding_SubjectDeletedWhileBound_IsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, harness.Shared(t))
	d := w.Apply(t, w.ns, deployment("d", ""))[0]
	ab := w.bind(t, "b", byName)
	w.Await(t, ab, harness.Ready)
	w.Delete(t, d)
	w.Await(t, d, harness.Deleted)
	w.Await(t, ab, notBound("SubjectNotFound"), counts(0, 0))
	d = w.Apply(t, w.ns, deployment("d", ""))[0]
	w.Await(t, d, has(address))
	w.Await(t, ab, harness.Ready, counts(1, 1))
	w.Delete(t, d)
	w.Delete(t, ab)
	w.Await(t, ab, harness.Deleted)
}

func TestAddressBinding_UsersOwnVariable_IsKept(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	for name, own := range map[string]string{
		"value":     "- {name: K_ADDRESS, value: mine}",
		"reference": "- {name: K_ADDRESS, valueFrom: {fieldRef: {fieldPath: metadata.name}}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, env)
			d := w.Apply(t, w.ns, deployment("d", "", own))[0]
			before := w.get(t, d)
			ab := w.bind(t, "b", byName)
			taken := w.Await(t, ab, notBound("VariableTaken"), counts(1, 0))
			if text := fmt.Sprint(taken.Object["status"]); !strings.Contains(text, "Deployment d: container main has its own variable K_ADDRESS") {
				t.Errorf("the status does not say which container of what it is: %s", text)
			}
			got := environments(w.get(t, d), podTemplate...)
			if want := environments(before, podTemplate...)["main"]; strings.Join(got["main"], ",") != strings.Join(want, ",") {
				t.Errorf("container main has variables %q, want %q", got["main"], want)
			}
			if want := "K_ADDRESS=" + address; strings.Join(got["side"], ",") != want {
				t.Errorf("the container without one has variables %q, want %q", got["side"], want)
			}
			// It is never taken: neither when the binding is deleted nor when it is recreated.
			w.Delete(t, ab)
			w.Await(t, ab, harness.Deleted)
			after := w.get(t, d)
			for container, want := range environments(before, podTemplate...) {
				if got := environments(after, podTemplate...)[container]; strings.Join(got, ",") != strings.Join(want, ",") {
					t.Errorf("after the binding container %s has variables %q, want %q", container, got, want)
				}
			}
			ab = w.bind(t, "b", byName)
			w.Await(t, ab, notBound("VariableTaken"))
			w.Apply(t, w.ns, deployment("d", ""))
			w.Await(t, d, has(address))
			w.Await(t, ab, harness.Ready)
		})
	}
}

func TestAddressBinding_TwoOnOneSubject_BothAreBound(t *testing.T) {
	t.Parallel()
	env := harness.Shared(t)
	bye := func(t *testing.T, w *world) {
		t.Helper()
		ref := w.Apply(t, w.ns, `
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata:
  name: bye
  annotations: {samples.knative.dev/addressableservice.class: other}
spec:
  ref: {apiVersion: v1, kind: Service, name: none}
`)[0]
		w.Patch(t, ref, fmt.Sprintf(`{"status": {"address": {"url": %q}}}`, otherAddress), "status")
	}
	second := func(t *testing.T, w *world, address, variable string) harness.Ref {
		t.Helper()
		return w.Apply(t, w.ns, fmt.Sprintf(`
apiVersion: samples.knative.dev/v1
kind: AddressBinding
metadata: {name: second}
spec: {subject: %s, address: {name: %s}, variable: %s}
`, byLabel, address, variable))[0]
	}
	t.Run("OfTwoVariables", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, env)
		bye(t, w)
		d := w.Apply(t, w.ns, deployment("d", "bound: to-it"))[0]
		refs := []harness.Ref{w.bind(t, "first", byName), second(t, w, "bye", "PEER")}
		for _, ref := range refs {
			w.Await(t, ref, harness.Ready)
		}
		w.Await(t, d, has(address), hasVariable("PEER", otherAddress))
		w.Delete(t, refs[0])
		w.Await(t, refs[0], harness.Deleted)
		w.Await(t, d, has(""), hasVariable("PEER", otherAddress))
	})
	t.Run("OfOneVariable", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, env)
		bye(t, w)
		d := w.Apply(t, w.ns, deployment("d", "bound: to-it"))[0]
		// The name of the older one also sorts first, for they may be of the same second.
		first := w.bind(t, "first", byName)
		w.Await(t, first, harness.Ready)
		younger := second(t, w, "bye", "K_ADDRESS")
		w.Await(t, younger, notBound("VariableTaken"))
		w.Await(t, d, has(address))
		w.Await(t, first, harness.Ready)
		w.Delete(t, first)
		w.Await(t, first, harness.Deleted)
		w.Await(t, d, has(otherAddress))
		w.Await(t, younger, harness.Ready)
	})
	t.Run("OfOneVariableWithOneValue", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, env)
		d := w.Apply(t, w.ns, deployment("d", "bound: to-it"))[0]
		refs := []harness.Ref{w.bind(t, "first", byName), second(t, w, "hello", "K_ADDRESS")}
		for _, ref := range refs {
			w.Await(t, ref, harness.Ready, counts(1, 1))
		}
		w.Await(t, d, has(address))
		w.Delete(t, refs[0])
		w.Await(t, refs[0], harness.Deleted)
		w.Await(t, d, has(address))
		w.Delete(t, refs[1])
		w.Await(t, refs[1], harness.Deleted)
		w.Await(t, d, has(""))
	})
}
