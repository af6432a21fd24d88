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

// TestOf_WhichBindingsHaveTheirVariable applies a binding to an object without the variable, and to one that it has marked.
func TestOf_WhichBindingsHaveTheirVariable(t *testing.T) {
	now := metav1.NewTime(time.Unix(9, 0))
	const format = `{"metadata":{"name":"app","labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"%s}]}}}}`
	const has = `,"env":[{"name":"K_ADDRESS","value":"old"}]`
	const writes, keeps, removes = 1, 2, 3
	for name, test := range map[string]struct {
		change func(*v1.AddressBinding)
		want   int
	}{
		"bound":           {func(*v1.AddressBinding) {}, writes},
		"other version":   {func(b *v1.AddressBinding) { b.Spec.Subject.APIVersion = "apps/v1beta1" }, writes},
		"by name":         {byName("app"), writes},
		"empty selector":  {func(b *v1.AddressBinding) { b.Spec.Subject.Selector = &metav1.LabelSelector{} }, writes},
		"several kinds":   {func(b *v1.AddressBinding) { b.Status.Kinds = append([]v1.SubjectKind{{Kind: "X"}}, b.Status.Kinds...) }, writes},
		"by other name":   {byName("other"), removes},
		"other selector":  {func(b *v1.AddressBinding) { b.Spec.Subject.Selector.MatchLabels["app"] = "b" }, removes},
		"no selector":     {func(b *v1.AddressBinding) { b.Spec.Subject.Selector.MatchLabels["app"] = "not a value" }, removes},
		"other kind":      {func(b *v1.AddressBinding) { b.Spec.Subject.Kind = "StatefulSet" }, removes},
		"other group":     {func(b *v1.AddressBinding) { b.Spec.Subject.APIVersion = "example.com/v1" }, removes},
		"other variable":  {func(b *v1.AddressBinding) { b.Spec.Variable = "NEW" }, removes},
		"being deleted":   {func(b *v1.AddressBinding) { b.DeletionTimestamp = &now }, removes},
		"no address":      {without, removes},
		"lost status":     {func(b *v1.AddressBinding) { b.Status = v1.AddressBindingStatus{} }, keeps},
		"unknown address": {func(b *v1.AddressBinding) { b.Status.Value = ""; b.Status.MarkAddressUnknown("not yet") }, keeps},
		"not recorded":    {func(b *v1.AddressBinding) { b.Status.Kinds = nil }, keeps},
		"other recorded":  {func(b *v1.AddressBinding) { b.Status.Kinds[0].Kind = "StatefulSet" }, keeps},
	} {
		t.Run(name, func(t *testing.T) {
			bindings := Of(deployments, []*v1.AddressBinding{bind("b", 1, test.change)})
			empty, before := fmt.Sprintf(format, ""), marked(t, fmt.Sprintf(format, has), "c", theVariable, "old")
			fresh := read(t, PodTemplate, patched(t, bindings.Apply(read(t, PodTemplate, empty), true, "").Patch(), empty))
			bound := read(t, PodTemplate, patched(t, bindings.Apply(read(t, PodTemplate, before), true, "").Patch(), before))
			valueOf := func(object Object) string {
				for _, v := range Environments(object)[0].Variables {
					if v.Name == theVariable {
						return v.Value
					}
				}
				return ""
			}
			want := map[int]struct{ fresh, bound string }{writes: {theValue, theValue}, keeps: {"", "old"}, removes: {"", ""}}[test.want]
			if got := valueOf(fresh); got != want.fresh {
				t.Errorf("an object without the variable gets %q, want %q", got, want.fresh)
			}
			if got := valueOf(bound); got != want.bound {
				t.Errorf("an object that was bound gets %q, want %q", got, want.bound)
			}
		})
	}
}

// TestApply_NoAddress_MarkIsKept shows that a rollback of a StatefulSet while the address is away does not make the old value the user's.
func TestApply_NoAddress_MarkIsKept(t *testing.T) {
	const before = `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"K_ADDRESS","value":"old"}]}]}}}}`
	text := marked(t, before, "c", theVariable, "old")
	bindings := Of(deployments, []*v1.AddressBinding{bind("b", 1, without)})
	after, m := plain(t, patched(t, bindings.Apply(read(t, PodTemplate, text), true, "b").Patch(), text))
	if after == canonical(t, before) || !m.has("c", &Environments(read(t, PodTemplate, before))[0].Variables[0]) {
		t.Errorf("it becomes %s with mark %v, want it without the variable and with the mark", after, m)
	}
}

func TestApply_SeveralBindings_TheOldestHasTheVariable(t *testing.T) {
	for name, test := range map[string]struct {
		bindings []*v1.AddressBinding
		want     string
		taken    map[string]string
	}{
		"by age": {
			bindings: []*v1.AddressBinding{bind("a", 2, value("young")), bind("z", 1, value("old"))},
			want:     "old", taken: map[string]string{"a": "variable K_ADDRESS is claimed by AddressBinding z, which is older"},
		},
		"by name when they are as old": {
			bindings: []*v1.AddressBinding{bind("z", 1, value("z")), bind("a", 1, value("a"))},
			want:     "a", taken: map[string]string{"z": "variable K_ADDRESS is claimed by AddressBinding a, which is older"},
		},
		"the oldest with an address": {
			bindings: []*v1.AddressBinding{bind("a", 1, without), bind("b", 2, value("b")), bind("c", 3, value("c"))},
			want:     "b", taken: map[string]string{"c": "variable K_ADDRESS is claimed by AddressBinding b, which is older"},
		},
		"several with the same value": {
			bindings: []*v1.AddressBinding{bind("a", 1), bind("b", 2), bind("c", 3, value("c"))},
			want:     theValue, taken: map[string]string{"c": "variable K_ADDRESS is claimed by AddressBinding a, which is older"},
		},
		"the older is not recorded yet": {
			bindings: []*v1.AddressBinding{bind("a", 1, func(b *v1.AddressBinding) { b.Status.Kinds = nil }), bind("b", 2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			const before = `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}}}`
			bindings := Of(deployments, test.bindings)
			after := read(t, PodTemplate, patched(t, bindings.Apply(read(t, PodTemplate, before), true, "").Patch(), before))
			if e := Environments(after)[0]; !e.Has(theVariable, test.want) && (test.want != "" || len(e.Variables) > 0) {
				t.Errorf("the variable is not %q: %+v", test.want, e)
			}
			// Each binding alone writes only what it has.
			writers := 0
			for _, b := range test.bindings {
				result := bindings.Apply(read(t, PodTemplate, before), true, b.Name)
				if result.Taken != test.taken[b.Name] {
					t.Errorf("for %s taken is %q, want %q", b.Name, result.Taken, test.taken[b.Name])
				}
				if len(result.Changes) > 0 {
					writers++
				}
			}
			if want := min(len(test.want), 1); writers != want {
				t.Errorf("%d of the bindings write, want %d", writers, want)
			}
		})
	}
}

func TestOf_CallersListIsNotSorted(t *testing.T) {
	all := []*v1.AddressBinding{bind("b", 2), bind("a", 1)}
	Of(deployments, all)
	if all[0].Name != "b" || all[1].Name != "a" {
		t.Error("the caller's list was sorted")
	}
}
