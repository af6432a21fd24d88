/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// Reasons of Normal events. Warnings carry the reason of the condition that
// became False.
const (
	// EventTargetResolved: an address that was missing is there.
	EventTargetResolved = "TargetResolved"

	// EventPublished: an alias that could not be published now is.
	EventPublished = "Published"
)

// recoveries are the conditions whose changes are reported, with the reason of
// the event that reports the return to True.
var recoveries = []struct {
	condition apis.ConditionType
	reason    string
	message   string
}{
	{v1.AddressableServiceConditionTargetResolved, EventTargetResolved, "The reference leads to an address again"},
	{v1.AddressableServiceConditionPublished, EventPublished, "The alias points to the address"},
}

// dependentConditions returns a copy of the conditions that Ready depends on, by
// type. Ready itself is of no use for telling what changed: the generated
// reconciler resets it for each new generation.
func dependentConditions(as *v1.AddressableService) map[apis.ConditionType]apis.Condition {
	conditions := make(map[apis.ConditionType]apis.Condition, len(recoveries))
	for _, r := range recoveries {
		if c := as.Status.GetCondition(r.condition); c != nil {
			conditions[r.condition] = *c
		}
	}
	return conditions
}

// recordTransitions emits an event for each condition that became False, or False
// for another reason, and for each that went from False to True. That an object
// is well from the start is no event: with many objects it would double the writes;
// nor is it one that an alias in trouble is no longer asked for.
func recordTransitions(ctx context.Context, as *v1.AddressableService, before map[apis.ConditionType]apis.Condition) {
	recorder := controller.GetEventRecorder(ctx)
	for _, r := range recoveries {
		was, is := before[r.condition], as.Status.GetCondition(r.condition)
		switch {
		case is.IsFalse() && !(was.IsFalse() && was.Reason == is.Reason):
			recorder.Event(as, corev1.EventTypeWarning, is.Reason, is.Message)
		case is.IsTrue() && was.IsFalse() && is.Reason != v1.ReasonNotRequested:
			recorder.Event(as, corev1.EventTypeNormal, r.reason, r.message)
		}
	}
}
