/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// In these tests the value of the binding is V, and its variable is K.
func binding(options ...func(*v1.AddressBinding)) *v1.AddressBinding {
	return bind("b", 1, append(options, variable("K"), value("V"))...)
}

func all(b *v1.AddressBinding) { b.Spec.Subject.Selector.MatchLabels = nil }

const ownVariable = "container c has its own variable K"

func TestApply_Containers(t *testing.T) {
	for name, test := range map[string]struct {
		reason     string
		env        string
		marked     []string // values of K that the mark lists, newest first
		do, undo   string
		want       []string // the values that the mark lists then
		taken      bool
		changeless bool
	}{
		"no variables": {reason: "The list is added and removed.", do: `,"env":[{"name":"K","value":"V"}]`, want: []string{"V"}},
		"others": {
			reason: "Others keep their places and unknown fields.",
			env:    `,"env":[{"name":"A","x":1},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"f"}}}]`,
			do:     `,"env":[{"name":"A","x":1},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"f"}}},{"name":"K","value":"V"}]`,
			undo:   `,"env":[{"name":"A","x":1},{"name":"B","valueFrom":{"fieldRef":{"fieldPath":"f"}}}]`, want: []string{"V"},
		},
		"present": {
			reason: "Nothing changes.", marked: []string{"V"},
			env: `,"env":[{"name":"K","value":"V"}]`, do: `,"env":[{"name":"K","value":"V"}]`, want: []string{"V"}, changeless: true,
		},
		"present with the value of before": {
			reason: "It was rolled back, and is ours all the same.", marked: []string{"V", "O"},
			env: `,"env":[{"name":"K","value":"O"},{"name":"A"}]`, do: `,"env":[{"name":"K","value":"V"},{"name":"A"}]`, undo: `,"env":[{"name":"A"}]`,
			want: []string{"V", "O"},
		},
		"outdated": {
			reason: "It changes in its place, and the mark keeps the value of before.", marked: []string{"O"},
			env: `,"env":[{"name":"K","value":"O"},{"name":"A"}]`, do: `,"env":[{"name":"K","value":"V"},{"name":"A"}]`, undo: `,"env":[{"name":"A"}]`,
			want: []string{"V", "O"},
		},
		"removed by a user": {reason: "It is added again.", marked: []string{"V"}, do: `,"env":[{"name":"K","value":"V"}]`, want: []string{"V"}},
		"twice": {
			reason: "The last one, which counts, is enough.", marked: []string{"O", "V"},
			env: `,"env":[{"name":"K","value":"O"},{"name":"A"},{"name":"K","value":"V"},{"name":"K","value":"O"}]`,
			do:  `,"env":[{"name":"A"},{"name":"K","value":"V"}]`, undo: `,"env":[{"name":"A"}]`, want: []string{"V", "O"},
		},
		"ten values before": {
			reason: "The mark does not grow without end.", marked: []string{"9", "8", "7", "6", "5", "4", "3", "2", "1", "0"},
			env: `,"env":[{"name":"K","value":"9"}]`, do: `,"env":[{"name":"K","value":"V"}]`,
			want: []string{"V", "9", "8", "7", "6", "5", "4", "3", "2", "1"},
		},
		"own": {
			reason: "It is never changed.",
			env:    `,"env":[{"name":"K","value":"mine"}]`, do: `,"env":[{"name":"K","value":"mine"}]`, undo: `,"env":[{"name":"K","value":"mine"}]`,
			taken: true, changeless: true,
		},
		"own with the value of the binding": {
			reason: "It has no mark.",
			env:    `,"env":[{"name":"K","value":"V"}]`, do: `,"env":[{"name":"K","value":"V"}]`, undo: `,"env":[{"name":"K","value":"V"}]`,
			taken: true, changeless: true,
		},
		"own and empty": {
			reason: "It is a variable, too.",
			env:    `,"env":[{"name":"K"}]`, do: `,"env":[{"name":"K"}]`, undo: `,"env":[{"name":"K"}]`, taken: true, changeless: true,
		},
		"own by reference": {
			reason: "It has no value that could be ours.", marked: []string{""},
			env: `,"env":[{"name":"K","valueFrom":{"fieldRef":{"fieldPath":"V"}}}]`, do: `,"env":[{"name":"K","valueFrom":{"fieldRef":{"fieldPath":"V"}}}]`,
			undo: `,"env":[{"name":"K","valueFrom":{"fieldRef":{"fieldPath":"V"}}}]`, taken: true, changeless: true, want: []string{""},
		},
		"ours was replaced": {
			reason: "A user has set it to another value.", marked: []string{"V"},
			env: `,"env":[{"name":"K","value":"mine"}]`, do: `,"env":[{"name":"K","value":"mine"}]`, undo: `,"env":[{"name":"K","value":"mine"}]`,
			taken: true, changeless: true, want: []string{"V"},
		},
		"own after ours": {
			reason: "A user who adds another one wants that one.", marked: []string{"V"},
			env: `,"env":[{"name":"K","value":"V"},{"name":"K","value":"mine"}]`, do: `,"env":[{"name":"K","value":"mine"}]`,
			undo: `,"env":[{"name":"K","value":"mine"}]`, taken: true, want: []string{"V"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, format := range []string{
				`{"metadata":{"name":"a","uid":"1","generation":3,"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"%s}]}}}}`,
				`{"metadata":{"name":"a","uid":"1","resourceVersion":"3","labels":{"app":"a"}},"spec":{"template":{"spec":{"initContainers":[{"name":"c"%s}]}}}}`,
			} {
				before := fmt.Sprintf(format, test.env)
				if test.marked != nil {
					before = marked(t, before, "c", "K", test.marked...)
				}
				bindings := Of(deployments, []*v1.AddressBinding{binding()})
				object := read(t, PodTemplate, before)
				result := bindings.Apply(object, true, "b")
				after := patched(t, result.Patch(), before)
				text, m := plain(t, after)
				if want := canonical(t, fmt.Sprintf(format, test.do)); text != want {
					t.Errorf("after Apply:\n%s\nwant:\n%s\nReason: %s", text, want, test.reason)
				}
				if got, want := m["c"]["K"], hashesOf(test.want); !slices.Equal(got, want) {
					t.Errorf("the mark lists %v, want %v\nReason: %s", got, want, test.reason)
				}
				if (len(result.Changes) == 0) != test.changeless || (len(result.Patch()) == 0) != test.changeless {
					t.Errorf("changes are %v, with tests %v\nReason: %s", result.Changes, result.Patch(), test.reason)
				}
				if (result.Taken == ownVariable) != test.taken || (result.Taken == "") == test.taken {
					t.Errorf("taken is %q\nReason: %s", result.Taken, test.reason)
				}
				if again := bindings.Apply(read(t, PodTemplate, after), true, "b"); len(again.Changes) != 0 {
					t.Errorf("a second time changes %v", again.Changes)
				}
				expectUndone(t, after, canonical(t, fmt.Sprintf(format, test.undo)), bindings)
			}
		})
	}
}

func hashesOf(values []string) []string {
	hashes := make([]string, 0, len(values))
	for _, v := range values {
		hashes = append(hashes, samples.Hash(v, hashDigits)+" b")
	}
	return hashes
}

// expectUndone checks that an object loses its variable and its mark when it opts out, and when the binding is deleted.
func expectUndone(t *testing.T, object, want string, bindings *Bindings) {
	t.Helper()
	for opted, undone := range map[string]Result{
		"out": bindings.Apply(read(t, PodTemplate, object), false, "b"), "in": Of(deployments, nil).Apply(read(t, PodTemplate, object), true, "b"),
	} {
		if text, m := plain(t, patched(t, undone.Patch(), object)); text != want || m != nil {
			t.Errorf("without the binding, opted %s:\n%s\nwant:\n%s\nmark: %v", opted, text, want, m)
		}
	}
}

func TestApply_OtherShapes(t *testing.T) {
	for name, test := range map[string]struct {
		shape            Shape
		before, do, undo string
		taken            string
	}{
		"CronJob": {
			shape:  CronJob,
			before: `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"initContainers":[{"name":"i","env":[{"name":"A"}]}],"containers":[{"name":"c"}]}}}}}}`,
			do: `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"initContainers":[{"name":"i","env":[{"name":"A"},{"name":"K","value":"V"}]}],
				"containers":[{"name":"c","env":[{"name":"K","value":"V"}]}]}}}}}}`,
		},
		"Job": {
			shape:  JobTemplate,
			before: `{"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`,
			do:     `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"K","value":"V"}]}]}}}}`,
		},
		"Configurable, absent":  {shape: Configurable, before: `{"spec":{}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{"configurable":{}}}`},
		"Configurable, null":    {shape: Configurable, before: `{"spec":{"configurable":null}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{"configurable":{}}}`},
		"Configurable, empty":   {shape: Configurable, before: `{"spec":{"configurable":{}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{"configurable":{}}}`},
		"Configurable, no list": {shape: Configurable, before: `{"spec":{"configurable":{"env":[]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{"configurable":{}}}`},
		"Configurable, others": {
			shape:  Configurable,
			before: `{"spec":{"configurable":{"env":[{"name":"A","x":1}]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"A","x":1},{"name":"K","value":"V"}]}}}`,
		},
		"Configurable, own": {
			shape:  Configurable,
			before: `{"spec":{"configurable":{"env":[{"name":"K","value":"mine"}]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"mine"}]}}}`,
			taken: "it has its own variable K",
		},
		"no template": {shape: PodTemplate, before: `{"spec":{"x":1}}`, do: `{"spec":{"x":1}}`},
		"a container without a name": {
			shape:  PodTemplate,
			before: `{"spec":{"template":{"spec":{"containers":[{"image":"c"}]}}}}`,
			do:     `{"spec":{"template":{"spec":{"containers":[{"image":"c","env":[{"name":"K","value":"V"}]}]}}}}`,
		},
		"no containers": {shape: PodTemplate, before: `{"spec":{"template":{"spec":{}}}}`, do: `{"spec":{"template":{"spec":{}}}}`},
		"several containers": {
			shape:  PodTemplate,
			before: `{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"c","env":[{"name":"K","value":"mine"}]}]}}}}`,
			do:     `{"spec":{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"K","value":"V"}]},{"name":"c","env":[{"name":"K","value":"mine"}]}]}}}}`,
			taken:  ownVariable,
		},
	} {
		t.Run(name, func(t *testing.T) {
			bindings := Of(deployments, []*v1.AddressBinding{binding(all)})
			for _, before := range []string{
				strings.Replace(test.before, "{", `{"metadata":{"annotations":{"of":"the user"}},`, 1),
				strings.Replace(test.before, "{", `{"metadata":{},`, 1),
			} {
				result := bindings.Apply(read(t, test.shape, before), true, "b")
				after := patched(t, result.Patch(), before)
				text, m := plain(t, after)
				if want, _ := plain(t, strings.Replace(test.do, "{", `{"metadata":{},`, 1)); text != want || result.Taken != test.taken {
					t.Fatalf("after Apply:\n%s\nwant:\n%s\ntaken: %q", text, want, result.Taken)
				}
				if (len(m) > 0) != (len(result.Changes) > 0) {
					t.Errorf("after changes %v the mark is %v", result.Changes, m)
				}
				want := test.undo
				if want == "" {
					want = test.before
				}
				text, m = plain(t, patched(t, bindings.Apply(read(t, test.shape, after), false, "b").Patch(), after))
				if want, _ := plain(t, strings.Replace(want, "{", `{"metadata":{},`, 1)); text != want || m != nil {
					t.Errorf("without the binding:\n%s\nwant:\n%s\nmark: %v", text, want, m)
				}
			}
		})
	}
}

func TestApply_ObjectChangedConcurrently_PatchIsRejected(t *testing.T) {
	const seen = `{"metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`
	result := Of(deployments, []*v1.AddressBinding{binding(all)}).Apply(read(t, PodTemplate, seen), true, "b")
	for version, wantRejected := range map[string]bool{`"7"`: false, `"8"`: true} {
		changed := strings.Replace(seen, `"7"`, version, 1)
		if _, err := tryPatch(result.Patch(), changed); (err != nil) != wantRejected {
			t.Errorf("applying %v to %s: %v", result.Patch(), changed, err)
		}
		if _, err := tryPatch(result.Changes, changed); err != nil {
			t.Errorf("applying %v, which has no tests, to %s: %v", result.Changes, changed, err)
		}
	}
}

func TestApply_ControlledObject_IsNeverChanged(t *testing.T) {
	const owner = `"ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"2","controller":%t}]`
	const format = `{"metadata":{"name":"a","labels":{"app":"a"},%s},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"K","value":"O"}]}]}}}}`
	bindings := Of(deployments, []*v1.AddressBinding{binding()})
	for controlled, included := range map[bool]bool{true: true, false: false} {
		object := read(t, PodTemplate, marked(t, fmt.Sprintf(format, fmt.Sprintf(owner, true)), "c", "K", "O"))
		if result := bindings.Apply(object, included, ""); len(result.Changes) > 0 || !Controlled(object) {
			t.Errorf("included: %t, controlled: %t, changes: %v", included, controlled, result.Changes)
		}
	}
	object := read(t, PodTemplate, marked(t, fmt.Sprintf(format, fmt.Sprintf(owner, false)), "c", "K", "O"))
	if result := bindings.Apply(object, true, ""); len(result.Changes) == 0 || Controlled(object) {
		t.Error("an object with an owner that does not control it is left alone")
	}
}

func TestApply_MalformedMark_RemovesNothing(t *testing.T) {
	const before = `{"metadata":{"name":"a","labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"K","value":"V"}]},{"name":"d"}]}}}}`
	for _, malformed := range []string{"", "no JSON", "[]", `{"c":["K"]}`, `{"c":{"K":"V"}}`, `{"c":{"K":["` + samples.Hash("V", hashDigits) + `"]},"d":1}`} {
		text := annotated(t, before, malformed)
		if result := Of(deployments, nil).Apply(read(t, PodTemplate, text), true, ""); len(result.Changes) > 0 {
			t.Errorf("mark %q, chosen by no binding: changes %v", malformed, result.Changes)
		}
		// It is replaced when there is something to write.
		result := Of(deployments, []*v1.AddressBinding{binding()}).Apply(read(t, PodTemplate, text), true, "b")
		_, m := plain(t, patched(t, result.Patch(), text))
		if result.Taken != ownVariable || len(m) != 1 || len(m["d"]) != 1 {
			t.Errorf("mark %q becomes %v, taken: %q", malformed, m, result.Taken)
		}
	}
}
