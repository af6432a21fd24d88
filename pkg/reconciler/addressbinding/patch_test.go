/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"testing"
	"time"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// A pass over many subjects takes a while, and a binding may go meanwhile.
func TestWhatIsWrittenIsByTheBindingsOfThatMoment(t *testing.T) {
	ab := object("a", well)
	w := newWorld(t, ab, hello(url), namespace(), deployment("d"))
	k := kind{Served: kinds.Served{Resource: deploymentsVersion, Namespaced: true, BuiltIn: true}, GroupKind: subjectKind(ab).GroupKind()}
	a := &adjuster{
		Reconciler: w.inner, binding: ab, kind: k, namespace: namespace().Labels,
		decider: binding.Of(k.GroupKind, []*v1.AddressBinding{ab}), choice: binding.ChoiceOf(&ab.Spec.Subject),
	}
	if err := w.bindings.Delete(ab); err != nil {
		t.Fatal(err)
	}
	found := &duckv1.WithPod{}
	if err := duck.FromUnstructured(deployment("d"), found); err != nil {
		t.Fatal(err)
	}
	if s := a.adjust(t.Context(), found, true); s == nil || s.problem != nil {
		t.Errorf("the subject is left as %+v", s)
	}
	if actions := w.dynamic.Actions(); len(actions) > 0 {
		t.Errorf("written is %v, though there is no binding any more", actions)
	}
}

func TestWorstTellsOfTheFirstReasonAndComesBackForTheFirstRecheck(t *testing.T) {
	later := &problem.Problem{Reason: v1.ReasonSubjectForbidden, Recheck: time.Minute}
	soon := &problem.Problem{Reason: v1.ReasonUnbindFailed, Recheck: time.Second}
	changed := &problem.Problem{Reason: v1.ReasonBinding, Recheck: time.Second}
	failed := problem.Failed(v1.ReasonUnbindFailed, errInduced)
	for name, tc := range map[string]struct {
		problems []*problem.Problem
		reason   string
		recheck  time.Duration
		err      error
	}{
		"None":              {},
		"Both":              {problems: []*problem.Problem{soon, later}, reason: v1.ReasonSubjectForbidden, recheck: time.Second},
		"InTheOtherOrder":   {problems: []*problem.Problem{later, soon}, reason: v1.ReasonSubjectForbidden, recheck: time.Second},
		"OneThatIsNoReason": {problems: []*problem.Problem{changed, soon}, reason: v1.ReasonUnbindFailed, recheck: time.Second},
		"AnError":           {problems: []*problem.Problem{later, failed}, reason: v1.ReasonSubjectForbidden, err: errInduced},
	} {
		t.Run(name, func(t *testing.T) {
			got := worst(tc.problems)
			if got == nil {
				got = &problem.Problem{}
			}
			if got.Reason != tc.reason || got.Recheck != tc.recheck || got.Err != tc.err { //nolint:errorlint // the very one
				t.Errorf("worst() = %+v, want %+v", got, tc)
			}
		})
	}
}
