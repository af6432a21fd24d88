/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package binding

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
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
		"lost status":     {lost, keeps},
		"unknown address": {unknown, keeps},
		"not served":      {unserved, keeps},
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
	if _, ours := m.writer("c", &Environments(read(t, PodTemplate, before))[0].Variables[0]); after == canonical(t, before) || !ours {
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
		"the older is not recorded yet":        {bindings: []*v1.AddressBinding{bind("a", 1, lost), bind("b", 2)}, want: theValue},
		"the address of the older is unknown":  {bindings: []*v1.AddressBinding{bind("a", 1, unknown), bind("b", 2)}, want: theValue},
		"the version of the older is unserved": {bindings: []*v1.AddressBinding{bind("a", 1, lost, unserved), bind("b", 2)}, want: theValue},
		"the version of the older is unserved by now": {
			bindings: []*v1.AddressBinding{bind("a", 1, value("old"), unserved), bind("b", 2)}, want: theValue,
		},
		"none can bind": {bindings: []*v1.AddressBinding{bind("a", 1, unknown), bind("b", 2, unserved)}},
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

// TestApply_OlderBindingCannotLead_KeepsOnlyWhatItHasWritten applies an older binding a and a younger one b to an object that has another value.
func TestApply_OlderBindingCannotLead_KeepsOnlyWhatItHasWritten(t *testing.T) {
	const before = `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"K_ADDRESS","value":"old"}]}]}}}}`
	const kept = "variable K_ADDRESS is that of AddressBinding a, which is older and whose address is unknown"
	for name, test := range map[string]struct {
		writer string
		a      func(*v1.AddressBinding)
		want   string
		taken  string
	}{
		"status lost":                         {"a", lost, "old", kept},
		"address unknown":                     {"a", unknown, "old", kept},
		"status lost, the younger wrote it":   {"b", lost, theValue, ""},
		"unknown, the younger wrote it":       {"b", unknown, theValue, ""},
		"unknown, a deleted binding wrote it": {"c", unknown, theValue, ""},
		"unknown, the mark names no binding":  {"", unknown, theValue, ""},
		"version not served":                  {"a", unserved, theValue, ""},
		"no address":                          {"a", without, theValue, ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := annotated(t, before, encoded(t, map[string]any{"c": map[string]any{theVariable: []string{strings.TrimSpace(samples.Hash("old", hashDigits) + " " + test.writer)}}}))
			bindings := Of(deployments, []*v1.AddressBinding{bind("a", 1, test.a), bind("b", 2)})
			for _, by := range []string{"", "b"} {
				result := bindings.Apply(read(t, PodTemplate, text), true, by)
				after := read(t, PodTemplate, patched(t, result.Patch(), text))
				if e := Environments(after)[0]; len(e.Variables) != 1 || !e.Has(theVariable, test.want) {
					t.Errorf("applied by %q, the variables are %+v, want %s", by, e.Variables, test.want)
				}
				if by == "b" && result.Taken != test.taken {
					t.Errorf("taken is %q, want %q", result.Taken, test.taken)
				}
				if again := bindings.Apply(after, true, by); len(again.Changes) > 0 {
					t.Errorf("a second time changes %v", again.Changes)
				}
			}
			if result := bindings.Apply(read(t, PodTemplate, text), true, "a"); len(result.Changes) > 0 {
				t.Errorf("the older one changes %v", result.Changes)
			}
			alike := Of(deployments, []*v1.AddressBinding{bind("a", 1, test.a), bind("b", 2, value("old"))})
			if result := alike.Apply(read(t, PodTemplate, text), true, "b"); len(result.Changes) > 0 || result.Taken != "" {
				t.Errorf("with one value, changes are %v, taken: %q", result.Changes, result.Taken)
			}
		})
	}
}

// TestApply_NoBindingHasAnAddress_KeepsWhatMayBeOfAnUnknownOne: z may have the address that the object has, and a does not.
func TestApply_NoBindingHasAnAddress_KeepsWhatMayBeOfAnUnknownOne(t *testing.T) {
	const before = `{"metadata":{"labels":{"app":"a"}},"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"K_ADDRESS","value":"old"}]}]}}}}`
	for writer, kept := range map[string]bool{"z": true, "deleted": true, "": true, "a": false, "going": false} {
		for name, z := range map[string]func(*v1.AddressBinding){"lost": lost, "unknown": unknown, "unserved": unserved} {
			text := annotated(t, before, encoded(t, map[string]any{"c": map[string]any{theVariable: []string{samples.Hash("old", hashDigits) + " " + writer}}}))
			going := bind("going", 1, func(b *v1.AddressBinding) { b.DeletionTimestamp = &metav1.Time{} })
			result := Of(deployments, []*v1.AddressBinding{going, bind("a", 2, without), bind("z", 3, z)}).Apply(read(t, PodTemplate, text), true, "")
			if (len(result.Changes) == 0) != kept {
				t.Errorf("z is %s, and %q has written the variable: changes %v, want it kept: %t", name, writer, result.Changes, kept)
			}
		}
	}
}

func TestOf_CallersListIsNotSorted(t *testing.T) {
	all := []*v1.AddressBinding{bind("b", 2), bind("a", 1)}
	Of(deployments, all)
	if all[0].Name != "b" || all[1].Name != "a" {
		t.Error("the caller's list was sorted")
	}
}
