/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

func TestWhichBindingsCount(t *testing.T) {
	now := metav1.NewTime(time.Unix(9, 0))
	for name, test := range map[string]struct {
		reason string
		change func(*v1.AddressBinding)
		want   bool
	}{
		"bound":          {reason: "Its status lists what it writes.", change: func(*v1.AddressBinding) {}, want: true},
		"other version":  {reason: "It is the same objects.", change: func(b *v1.AddressBinding) { b.Spec.Subject.APIVersion = "apps/v1beta1" }, want: true},
		"by name":        {reason: "It is the object's.", change: byName("app"), want: true},
		"by other name":  {reason: "It is another object's.", change: byName("other")},
		"empty selector": {reason: "It selects all.", change: func(b *v1.AddressBinding) { b.Spec.Subject.Selector = &metav1.LabelSelector{} }, want: true},
		"other selector": {reason: "It selects others.", change: func(b *v1.AddressBinding) { b.Spec.Subject.Selector.MatchLabels["app"] = "b" }},
		"no selector":    {reason: "It cannot be read.", change: func(b *v1.AddressBinding) { b.Spec.Subject.Selector.MatchLabels["app"] = "not a value" }},
		"other kind":     {reason: "It is for StatefulSets.", change: func(b *v1.AddressBinding) { b.Spec.Subject.Kind = "StatefulSet" }},
		"other group":    {reason: "It is for other objects.", change: func(b *v1.AddressBinding) { b.Spec.Subject.APIVersion = "example.com/v1" }},
		"being deleted":  {reason: "It has had its time.", change: func(b *v1.AddressBinding) { b.DeletionTimestamp = &now }},
		"no address":     {reason: "There is nothing to write.", change: func(b *v1.AddressBinding) { b.Status.Value = "" }},
		"new address":    {reason: "It is not persisted yet.", change: func(b *v1.AddressBinding) { b.Status.Value = "http://new.example" }},
		"new variable":   {reason: "It is not persisted yet.", change: func(b *v1.AddressBinding) { b.Spec.Variable = "NEW" }},
		"new kind":       {reason: "It is not persisted for that.", change: func(b *v1.AddressBinding) { b.Status.Bound[0].Kind = "StatefulSet" }},
		"not listed":     {reason: "It is not persisted yet.", change: func(b *v1.AddressBinding) { b.Status.Bound = nil }},
		"several entries": {reason: "One of them is it.", change: func(b *v1.AddressBinding) {
			b.Status.Bound = append([]v1.BoundVariable{{Name: "X"}}, b.Status.Bound...)
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := bind("b", 1, test.change)
			object := read(t, PodTemplate, `{"metadata":{"name":"app","labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`)
			result := Of(deployments, []*v1.AddressBinding{b}).Decide(object, true).Apply(object)
			if got := len(result.Changes) == 1; got != test.want {
				t.Errorf("it counts: %t, want %t\nReason: %s", got, test.want, test.reason)
			}
		})
	}
}

func byName(name string) func(*v1.AddressBinding) {
	return func(b *v1.AddressBinding) { b.Spec.Subject.Name, b.Spec.Subject.Selector = name, nil }
}

func TestOfTwoBindingsTheOlderHasTheVariable(t *testing.T) {
	for name, test := range map[string]struct {
		bindings []*v1.AddressBinding
		want     string
		taken    []Taken
	}{
		"by age": {
			bindings: []*v1.AddressBinding{bind("a", 2, value("young")), bind("z", 1, value("old"))},
			want:     "old", taken: []Taken{{Binding: "a", Variable: theVariable, By: "z"}},
		},
		"by name when they are as old": {
			bindings: []*v1.AddressBinding{bind("z", 1, value("z")), bind("a", 1, value("a"))},
			want:     "a", taken: []Taken{{Binding: "z", Variable: theVariable, By: "a"}},
		},
		"the older of those that count": {
			bindings: []*v1.AddressBinding{bind("a", 1, without), bind("b", 2, value("b")), bind("c", 3, value("c"))},
			want:     "b", taken: []Taken{{Binding: "c", Variable: theVariable, By: "b"}},
		},
		"who wants the same value gets it": {
			bindings: []*v1.AddressBinding{bind("a", 1), bind("b", 2), bind("c", 3, value("c"))},
			want:     theValue, taken: []Taken{{Binding: "c", Variable: theVariable, By: "a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := read(t, PodTemplate, `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`)
			result := Of(deployments, test.bindings).Decide(object, true).Apply(object)
			checkTaken(t, result.Taken, test.taken)
			const before = `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`
			after := read(t, PodTemplate, patched(t, result.Patch(), before))
			if !Holds(after, theVariable, test.want) {
				t.Errorf("the variable is not %q: %+v", test.want, Environments(after))
			}
		})
	}
}

func TestWhoWouldGetWhatAnObjectHasItselfIsTold(t *testing.T) {
	object := read(t, PodTemplate,
		`{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"`+theVariable+`","value":"mine"}]}]}}}}`)
	all := []*v1.AddressBinding{bind("a", 1), bind("b", 2), bind("c", 3, value("c"))}
	checkTaken(t, Of(deployments, all).Decide(object, true).Apply(object).Taken, []Taken{
		{Binding: "c", Variable: theVariable, By: "a"},
		{Binding: "a", Variable: theVariable, Container: "c"},
		{Binding: "b", Variable: theVariable, Container: "c"},
	})
}

// What a binding that does not count any more has written goes, and another one gets its place.
func TestWhatIsListedIsNobodysOwn(t *testing.T) {
	const format = `{"metadata":{"name":"app","labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"%s}]}}}}`
	variable := func(value string) string { return fmt.Sprintf(`,"env":[{"name":%q,"value":%q}]`, theVariable, value) }
	now := metav1.NewTime(time.Unix(9, 0))
	for name, change := range map[string]func(*v1.AddressBinding){
		"being deleted":     func(b *v1.AddressBinding) { b.DeletionTimestamp = &now },
		"no address":        without,
		"another address":   func(b *v1.AddressBinding) { b.Status.Value = "http://new.example" },
		"another variable":  func(b *v1.AddressBinding) { b.Spec.Variable = "NEW" },
		"for others":        byName("other"),
		"for another kind":  func(b *v1.AddressBinding) { b.Spec.Subject.Kind = "StatefulSet" },
		"its selector none": func(b *v1.AddressBinding) { b.Spec.Subject.Selector.MatchLabels["app"] = "not a value" },
	} {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprintf(format, variable(theValue))
			object := read(t, PodTemplate, before)
			former, next := bind("former", 1, change), bind("next", 2, value("http://next.example"))
			for want, all := range map[string][]*v1.AddressBinding{"": {former}, variable("http://next.example"): {former, next}} {
				result := Of(deployments, all).Decide(object, true).Apply(object)
				if got, want := patched(t, result.Patch(), before), canonical(t, fmt.Sprintf(format, want)); got != want {
					t.Errorf("with %d bindings it becomes\n%s\nwant\n%s", len(all), got, want)
				}
				checkTaken(t, result.Taken, nil)
			}
		})
	}
}

func TestTheOrderOfBindingsIsLeftAlone(t *testing.T) {
	all := []*v1.AddressBinding{bind("b", 2), bind("a", 1)}
	Of(deployments, all)
	if all[0].Name != "b" || all[1].Name != "a" {
		t.Error("the caller's list was sorted")
	}
}
