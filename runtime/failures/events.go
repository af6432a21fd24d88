/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
)

// Object is what a generated reconciler passes to ReconcileKind.
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

	// Passing means that the condition is Unknown while the object converges, so that Unknown ends a failure, too.
	Passing bool

	// Quiet are the reasons with which the condition is True although nothing has recovered, for example because the feature that
	// failed is no longer requested.
	Quiet []string
}

// Events reports the conditions of an object that a reconciliation changes. Use BeginEvents.
type Events struct {
	obj      Object
	reported []Reported
	before   map[apis.ConditionType]apis.Condition
}

// BeginEvents is called at the beginning of ReconcileKind, before anything is marked.
func BeginEvents(obj Object, reported []Reported) *Events {
	e := &Events{obj: obj, reported: reported, before: make(map[apis.ConditionType]apis.Condition, len(reported))}
	for _, r := range reported {
		if c := obj.GetStatus().GetCondition(r.Condition); c != nil {
			e.before[r.Condition] = *c
		}
	}
	return e
}

// Record is called after everything was marked. It emits an event for each condition that became False, or False for
// another reason, and for each that went from False to True, or to Unknown where that is Passing, by the recorder that the
// generated reconciler has put into ctx.
func (e *Events) Record(ctx context.Context) {
	recorder := controller.GetEventRecorder(ctx)
	for _, r := range e.reported {
		was, is := e.before[r.Condition], e.obj.GetStatus().GetCondition(r.Condition)
		switch {
		case is.IsFalse() && !(was.IsFalse() && was.Reason == is.Reason):
			recorder.Event(e.obj, corev1.EventTypeWarning, is.Reason, is.Message)
		case (is.IsTrue() || r.Passing && is.IsUnknown()) && was.IsFalse() && !slices.Contains(r.Quiet, is.Reason):
			recorder.Event(e.obj, corev1.EventTypeNormal, r.Reason, r.Message)
		}
	}
}
