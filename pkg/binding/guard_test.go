/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"strings"
	"testing"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestApplyToOtherShapes(t *testing.T) {
	for name, test := range map[string]struct {
		shape            Shape
		before, do, undo string
		taken            []Taken
	}{
		"CronJob": {
			shape:  CronJob,
			before: `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"initContainers":[{"name":"i","env":[{"name":"A"}]}],"containers":[{"name":"c"}]}}}}}}`,
			do: `{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"initContainers":[{"name":"i","env":[{"name":"A"},{"name":"K","value":"V"}]}],
				"containers":[{"name":"c","env":[{"name":"K","value":"V"}]}]}}}}}}`,
		},
		"Configurable, absent":  {shape: Configurable, before: `{"spec":{}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`},
		"Configurable, null":    {shape: Configurable, before: `{"spec":{"configurable":null}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{}}`},
		"Configurable, empty":   {shape: Configurable, before: `{"spec":{"configurable":{}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{}}`},
		"Configurable, no list": {shape: Configurable, before: `{"spec":{"configurable":{"env":[]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{}}`},
		"Configurable, others": {
			shape:  Configurable,
			before: `{"spec":{"configurable":{"env":[{"name":"A","x":1}]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"A","x":1},{"name":"K","value":"V"}]}}}`,
		},
		"Configurable, of another name": {
			shape:  Configurable,
			before: `{"spec":{"configurable":{"env":[{"name":"L","value":"V"}]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`, undo: `{"spec":{}}`,
		},
		"Configurable, own": {
			shape:  Configurable,
			before: `{"spec":{"configurable":{"env":[{"name":"K","value":"mine"}]}}}`, do: `{"spec":{"configurable":{"env":[{"name":"K","value":"mine"}]}}}`, taken: own(""),
		},
		"no template": {shape: PodTemplate, before: `{"spec":{"x":1}}`, do: `{"spec":{"x":1}}`},
		"a container without a name": {
			shape:  PodTemplate,
			before: `{"spec":{"template":{"spec":{"containers":[{"image":"c"}]}}}}`,
			do:     `{"spec":{"template":{"spec":{"containers":[{"image":"c","env":[{"name":"K","value":"V"}]}]}}}}`,
		},
		"no containers": {shape: PodTemplate, before: `{"spec":{"template":{"spec":{}}}}`, do: `{"spec":{"template":{"spec":{}}}}`},
		"several containers, some of them done": {
			shape:  PodTemplate,
			before: `{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","env":[{"name":"K","value":"V"}]},{"name":"c","env":[{"name":"K","value":"mine"}]}]}}}}`,
			do: `{"spec":{"template":{"spec":{"containers":[{"name":"a","env":[{"name":"K","value":"V"}]},{"name":"b","env":[{"name":"K","value":"V"}]},
				{"name":"c","env":[{"name":"K","value":"mine"}]}]}}}}`,
			undo:  `{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b"},{"name":"c","env":[{"name":"K","value":"mine"}]}]}}}}`,
			taken: own("c"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := binding()
			all.Spec.Subject.Selector.MatchLabels = nil
			bindings := Of(deployments, []*v1.AddressBinding{all})
			object := read(t, test.shape, test.before)
			result := bindings.Decide(object, true).Apply(object)
			checkTaken(t, result.Taken, test.taken)
			after := patched(t, result.Patch(), test.before)
			if want := canonical(t, test.do); after != want {
				t.Fatalf("after Apply:\n%s\nwant:\n%s", after, want)
			}
			if test.undo == "" {
				test.undo = test.before
			}
			object = read(t, test.shape, after)
			if got, want := patched(t, bindings.Decide(object, false).Apply(object).Patch(), after), canonical(t, test.undo); got != want {
				t.Errorf("without the binding:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestAPatchIsRefusedByAnObjectThatHasChanged(t *testing.T) {
	const configured = `{"metadata":{"generation":2},"spec":{"configurable":{"env":[{"name":"K","value":"V"}]}}}`
	for name, test := range map[string]struct {
		reason      string
		shape       Shape
		seen        string
		old, new    string
		included    bool
		wantRefused bool
	}{
		"nothing":   {shape: PodTemplate, included: true},
		"a status":  {reason: "It does not matter.", shape: PodTemplate, old: `"resourceVersion":"7"`, new: `"resourceVersion":"8"`, included: true},
		"its UID":   {reason: "It is another object.", shape: PodTemplate, old: `"uid":"1"`, new: `"uid":"2"`, included: true, wantRefused: true},
		"its spec":  {reason: "Another variable may be there.", shape: PodTemplate, old: `"generation":3`, new: `"generation":4`, included: true, wantRefused: true},
		"its names": {reason: "It is another container.", shape: PodTemplate, old: `"name":"c"`, new: `"name":"d"`, included: true, wantRefused: true},
		"a version, where nobody counts generations": {
			reason: "Anything may have changed.", shape: PodTemplate,
			seen: `{"metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`,
			old:  `"7"`, new: `"8"`, included: true, wantRefused: true,
		},
		"a Configurable": {reason: "What is there was not seen.", shape: Configurable, seen: `{"metadata":{"generation":1},"spec":{}}`, old: `"spec":{}`, new: `"spec":{"configurable":{"env":[]}}`, included: true, wantRefused: true},
		"something we do not know of in a Configurable": {
			reason: "It is not ours to remove.", shape: Configurable, seen: configured, old: `{"env":`, new: `{"x":1,"env":`, wantRefused: true,
		},
		"nothing in a Configurable": {shape: Configurable, seen: configured},
	} {
		t.Run(name, func(t *testing.T) {
			b := binding()
			b.Spec.Subject.Selector.MatchLabels = nil
			seen := test.seen
			if seen == "" {
				seen = `{"metadata":{"uid":"1","generation":3,"resourceVersion":"7"},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`
			}
			object := read(t, test.shape, seen)
			result := Of(deployments, []*v1.AddressBinding{b}).Decide(object, test.included).Apply(object)
			if len(result.Changes) != 1 {
				t.Fatalf("changes are %v, want one", result.Changes)
			}
			changed := strings.Replace(seen, test.old, test.new, 1)
			if _, err := tryPatch(result.Patch(), changed); (err != nil) != test.wantRefused {
				t.Errorf("applying %v to %s: %v\nReason: %s", result.Patch(), changed, err, test.reason)
			}
		})
	}
}

func TestTakenFrom(t *testing.T) {
	result := Result{Taken: []Taken{{Binding: "a", Variable: "1"}, {Binding: "b", Variable: "2"}, {Binding: "a", Variable: "3"}}}
	checkTaken(t, result.TakenFrom("a"), []Taken{{Binding: "a", Variable: "1"}, {Binding: "a", Variable: "3"}})
	checkTaken(t, result.TakenFrom("c"), nil)
}

func TestHolds(t *testing.T) {
	object := read(t, PodTemplate, `{"spec":{"template":{"spec":{"containers":[{"name":"c"},{"name":"d","env":[{"name":"A","value":"x"},{"name":"K","value":"V"}]}]}}}}`)
	for pair, want := range map[[2]string]bool{{"K", "V"}: true, {"K", "x"}: false, {"A", "V"}: false, {"A", "x"}: true, {"B", ""}: false} {
		if got := Holds(object, pair[0], pair[1]); got != want {
			t.Errorf("Holds(%q) = %t, want %t", pair, got, want)
		}
	}
	if Holds(read(t, PodTemplate, `{"spec":{"template":{"spec":{"containers":[{"env":[{"name":"K","valueFrom":{}}]}]}}}}`), "K", "") {
		t.Error("a variable that is a reference has the empty value")
	}
}
