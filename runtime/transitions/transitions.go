/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package transitions

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
)

// Object is what a generated reconciler hands to ReconcileKind.
type Object interface {
	duckv1.KRShaped
	runtime.Object
}

// Reported is a condition whose changes are reported. Ready is of no use here: the generated reconciler resets it for
// each new generation. What is reported are those that it depends on.
type Reported struct {
	Condition apis.ConditionType

	// Reason and Message are those of the Normal event that reports the return to True. Warnings carry the reason
	// and the message of the condition that became False.
	Reason  string
	Message string

	// Passing says that the condition is Unknown while the object is on its way, which then is a return as well.
	Passing bool

	// Quiet are the reasons with which the condition is True although nothing has recovered, as when what was in
	// trouble is no longer asked for.
	Quiet []string
}

// Transitions knows the conditions of an object as they were. Use Begin.
type Transitions struct {
	obj      Object
	reported []Reported
	before   map[apis.ConditionType]apis.Condition
}

// Begin is called at the beginning of ReconcileKind, before anything is marked.
func Begin(obj Object, reported []Reported) *Transitions {
	t := &Transitions{obj: obj, reported: reported, before: make(map[apis.ConditionType]apis.Condition, len(reported))}
	for _, r := range reported {
		if c := obj.GetStatus().GetCondition(r.Condition); c != nil {
			t.before[r.Condition] = *c
		}
	}
	return t
}

// Record is called once everything is marked. It emits an event for each condition that became False, or False for
// another reason, and for each that went from False to True, or to Unknown where that is Passing, by the recorder that the
// generated reconciler has put into ctx.
func (t *Transitions) Record(ctx context.Context) {
	recorder := controller.GetEventRecorder(ctx)
	for _, r := range t.reported {
		was, is := t.before[r.Condition], t.obj.GetStatus().GetCondition(r.Condition)
		switch {
		case is.IsFalse() && !(was.IsFalse() && was.Reason == is.Reason):
			recorder.Event(t.obj, corev1.EventTypeWarning, is.Reason, is.Message)
		case (is.IsTrue() || r.Passing && is.IsUnknown()) && was.IsFalse() && !slices.Contains(r.Quiet, is.Reason):
			recorder.Event(t.obj, corev1.EventTypeNormal, r.Reason, r.Message)
		}
	}
}
