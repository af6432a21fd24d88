/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

const (
	// RetryDelay is the time after which an object is reconciled again whose request failed, unless a back-off of the process decides, and after which
	// a kind is listed again that the operator was not authorized to read.
	RetryDelay = 10 * time.Second
	// steadyFor is the time for which a message is kept, so that a condition does not show an outdated one indefinitely.
	steadyFor = 5 * time.Minute
)

// Failure is the reason for which a step did not reach the desired state. With neither Recheck nor Err, it ends when a tracked object changes.
// A nil *Failure means success.
type Failure struct {
	// Reason and Message are those of the condition.
	Reason, Message string
	// Recheck is the time after which to reconcile again although no event may arrive.
	Recheck time.Duration
	// Err is the error of the request that failed.
	Err error
}

// Newf returns a failure that ends when a tracked object changes, with a formatted message.
func Newf(reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Failed returns the failure of a request, with the text of the error as its message. Set Message afterwards if the user needs another text.
func Failed(reason string, err error) *Failure {
	return &Failure{Reason: reason, Message: err.Error(), Err: err}
}

// Marked reports whether a condition should be marked with the failure. It is false for nil, for a conflict, which means
// only that the object was modified concurrently, and for a request that was canceled, which is no information about the cluster.
func (f *Failure) Marked() bool {
	return f != nil && !apierrors.IsConflict(f.Err) && !errors.Is(f.Err, context.Canceled)
}

// StatusCode returns the status code of the API server's response that an error contains, or 0.
func StatusCode(err error) int32 {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.Status().Code
	}
	return 0
}

// Object is implemented by the objects that a generated reconciler passes to ReconcileKind.
type Object interface {
	duckv1.KRShaped
	runtime.Object
}

// Reported is a condition whose transitions are events. Ready cannot be one: the generated reconciler resets it for
// each new generation. The conditions that Ready depends on are reported.
type Reported struct {
	Condition apis.ConditionType

	// Reason and Message are those of the Normal event that reports the return to True without a reason: with one, nothing has recovered, for example
	// because the feature that failed is no longer requested. Warnings carry the reason and the message of the condition that became False.
	Reason  string
	Message string

	// Passing means that the condition is Unknown while the object converges, so that Unknown ends a failure, too.
	Passing bool
}

// Begin is called at the beginning of ReconcileKind or FinalizeKind, before anything is marked, and end once everything is marked, with the failures of
// the steps, which may be nil. end returns the result.
//
// It records an event for each condition that became False, or False for another reason, and for each that went from False to True, or to
// Unknown where that is Passing, by the recorder that the generated reconciler has put into ctx. An object that is ready from the start
// has no event, which would double the number of writes. A failed request takes precedence over the earliest Recheck.
func Begin(obj Object, reported []Reported) (end func(ctx context.Context, steps ...*Failure) reconciler.Event) {
	before := obj.GetStatus().DeepCopy()
	return func(ctx context.Context, steps ...*Failure) reconciler.Event {
		keepMessages(before, obj, steps)
		recorder := controller.GetEventRecorder(ctx)
		for _, r := range reported {
			was, is := before.GetCondition(r.Condition), obj.GetStatus().GetCondition(r.Condition)
			switch {
			case is.IsFalse() && !(was.IsFalse() && was.Reason == is.Reason):
				recorder.Event(obj, corev1.EventTypeWarning, is.Reason, is.Message)
			case was.IsFalse() && (is.IsTrue() && is.Reason == "" || r.Passing && is.IsUnknown()):
				recorder.Event(obj, corev1.EventTypeNormal, r.Reason, r.Message)
			}
		}
		return result(steps)
	}
}

// keepMessages restores the messages of conditions that had failed with the same reason before. The text of an error may differ
// each time (ports, request IDs, quota usage), and each update of the status enqueues the object.
func keepMessages(before *duckv1.Status, obj Object, steps []*Failure) {
	if before.ObservedGeneration != obj.GetGeneration() {
		return
	}
	conditions := obj.GetStatus().Conditions
	for i := range conditions {
		is, was := &conditions[i], before.GetCondition(conditions[i].Type)
		if was != nil && was.Status == is.Status && was.Reason == is.Reason && time.Since(was.LastTransitionTime.Inner.Time) < steadyFor &&
			slices.ContainsFunc(steps, func(f *Failure) bool { return f != nil && f.Err != nil && f.Reason == is.Reason }) {
			*is = *was
		}
	}
}

func result(steps []*Failure) reconciler.Event {
	var recheck time.Duration
	var err error
	for _, step := range steps {
		switch {
		case step == nil:
		case step.Err != nil:
			err = cmp.Or(err, step.Err)
		case step.Recheck > 0 && (recheck == 0 || step.Recheck < recheck):
			recheck = step.Recheck
		}
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w; %w", err, controller.NewRequeueAfter(RetryDelay))
	case recheck > 0:
		return controller.NewRequeueAfter(recheck)
	default:
		return nil
	}
}
