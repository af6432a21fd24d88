/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// In these the value of the binding is V, its variable is K, and it has written O before, and V to L.
func binding() *v1.AddressBinding {
	b := bind("b", 1, variable("K"), value("V"))
	b.Status.Bound = append(b.Status.Bound,
		v1.BoundVariable{APIVersion: "apps/v1", Kind: "Deployment", Name: "K", Value: "O"},
		v1.BoundVariable{APIVersion: "apps/v1", Kind: "Deployment", Name: "L", Value: "V"})
	return b
}

func own(containers ...string) []Taken {
	var taken []Taken
	for _, container := range containers {
		taken = append(taken, Taken{Binding: "b", Variable: "K", Container: container})
	}
	return taken
}

func checkTaken(t *testing.T, got, want []Taken) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taken (-want, +got):\n%s", diff)
	}
}

func TestApplyToContainers(t *testing.T) {
	for name, test := range map[string]struct {
		reason     string
		env        string
		do, undo   string
		taken      bool
		changeless bool
	}{
		"none": {reason: "The list comes and goes.", env: ``, do: `,"env":[{"name":"K","value":"V"}]`, undo: ``},
		"others": {
			reason: "Others stay where they are, with what we do not know.",
			env:    `,"env":[{"name":"A","x":1},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"f"}}}]`,
			do:     `,"env":[{"name":"A","x":1},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"f"}}},{"name":"K","value":"V"}]`,
			undo:   `,"env":[{"name":"A","x":1},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"f"}}}]`,
		},
		"there": {reason: "Nothing is to be done.", env: `,"env":[{"name":"K","value":"V"}]`, do: `,"env":[{"name":"K","value":"V"}]`, undo: ``, changeless: true},
		"there, before others": {
			reason: "It stays where it is.",
			env:    `,"env":[{"name":"K","value":"V"},{"name":"A"}]`, do: `,"env":[{"name":"K","value":"V"},{"name":"A"}]`,
			undo: `,"env":[{"name":"A"}]`, changeless: true,
		},
		"outdated": {
			reason: "It changes in its place.",
			env:    `,"env":[{"name":"K","value":"O"},{"name":"A"}]`,
			do:     `,"env":[{"name":"K","value":"V"},{"name":"A"}]`, undo: `,"env":[{"name":"A"}]`,
		},
		"of another name": {
			reason: "One goes and the other comes, though for a moment the list is empty.",
			env:    `,"env":[{"name":"L","value":"V"}]`, do: `,"env":[{"name":"K","value":"V"}]`, undo: ``,
		},
		"twice": {
			reason: "Once is enough.",
			env:    `,"env":[{"name":"K","value":"O"},{"name":"A"},{"name":"K","value":"V"},{"name":"K","value":"O"}]`,
			do:     `,"env":[{"name":"K","value":"V"},{"name":"A"}]`, undo: `,"env":[{"name":"A"}]`,
		},
		"own": {
			reason: "It is never taken.",
			env:    `,"env":[{"name":"K","value":"mine"}]`, do: `,"env":[{"name":"K","value":"mine"}]`, undo: `,"env":[{"name":"K","value":"mine"}]`,
			taken: true, changeless: true,
		},
		"own and empty": {
			reason: "It is a variable, too.",
			env:    `,"env":[{"name":"K"}]`, do: `,"env":[{"name":"K"}]`, undo: `,"env":[{"name":"K"}]`, taken: true, changeless: true,
		},
		"own by reference": {
			reason: "Its value is somewhere else.",
			env:    `,"env":[{"name":"K","valueFrom":{"fieldRef":{"fieldPath":"V"}}}]`, do: `,"env":[{"name":"K","valueFrom":{"fieldRef":{"fieldPath":"V"}}}]`,
			undo: `,"env":[{"name":"K","valueFrom":{"fieldRef":{"fieldPath":"V"}}}]`, taken: true, changeless: true,
		},
		"own after ours": {
			reason: "Who adds his own wants his own.",
			env:    `,"env":[{"name":"K","value":"V"},{"name":"K","value":"mine"}]`, do: `,"env":[{"name":"K","value":"mine"}]`,
			undo: `,"env":[{"name":"K","value":"mine"}]`, taken: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{
				`{"metadata":{"name":"a","uid":"1","generation":3,"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"%s}]}}}}`,
				`{"metadata":{"name":"a","uid":"1","resourceVersion":"3","labels":{"app":"a"}},"spec":{"template":{"spec":{"initContainers":[{"name":"c"%s}]}}}}`,
			} {
				before := fmt.Sprintf(format, test.env)
				bindings := Of(deployments, []*v1.AddressBinding{binding()})
				object := read(t, PodTemplate, before)
				result := bindings.Decide(object, true).Apply(object)
				if got, want := patched(t, result.Patch(), before), canonical(t, fmt.Sprintf(format, test.do)); got != want {
					t.Errorf("after Apply:\n%s\nwant:\n%s\nReason: %s", got, want, test.reason)
				}
				if (len(result.Changes) == 0) != test.changeless || (len(result.Patch()) == 0) != test.changeless {
					t.Errorf("changes are %v, with tests %v\nReason: %s", result.Changes, result.Patch(), test.reason)
				}
				var want []Taken
				if test.taken {
					want = own("c")
				}
				checkTaken(t, result.Taken, want)
				undone := bindings.Decide(object, false).Apply(object)
				checkTaken(t, undone.Taken, nil)
				if got, want := patched(t, undone.Patch(), before), canonical(t, fmt.Sprintf(format, test.undo)); got != want {
					t.Errorf("without the binding:\n%s\nwant:\n%s\nReason: %s", got, want, test.reason)
				}
			}
		})
	}
}
