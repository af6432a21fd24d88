/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	"knative.dev/pkg/controller"
)

// Failure describes the reason for which a step did not reach the desired state. With neither Recheck nor Err, it ends when a watched object changes.
// A nil *Failure means success.
type Failure struct {
	// Reason and Message are those of the condition.
	Reason, Message string
	// Recheck is the time after which to reconcile again although no event may arrive.
	Recheck time.Duration
	// Err is the error of the request that failed.
	Err error
}

// Newf returns a failure that ends when a watched object changes, with a formatted message.
func Newf(reason, format string, args ...any) *Failure {
	return &Failure{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Failed returns the failure of a request, with the text of the error as its message. Set Message afterwards if the user
// needs another text. Failures.Outcome keeps the condition's message steady if the text differs between retries.
func Failed(reason string, err error) *Failure {
	return &Failure{Reason: reason, Message: err.Error(), Err: err}
}

// StatusCode returns the status code of the API server's response that an error contains, or 0.
func StatusCode(err error) int32 {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return status.Status().Code
	}
	return 0
}

// Marked reports whether a condition should be marked with the failure. It is false for nil, for a conflict, which means
// only that the object was modified concurrently, and for a request that was canceled, which is no information about the cluster.
func (f *Failure) Marked() bool {
	return f != nil && !apierrors.IsConflict(f.Err) && !errors.Is(f.Err, context.Canceled)
}

// Expected reports whether an error belongs to the normal life of objects: another writer was first, the object does not exist anymore, its namespace is
// being deleted, the quota is used up, or the process stops leading. Such a request is retried as others, but is no error in logs and metrics.
func Expected(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err) ||
		apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota: ") || errors.Is(err, context.Canceled)
}

// retry is a failure as the queue has to see it: neither an event nor a log entry for each time, and no rate limiter.
type retry struct{ error }

// Unwrap makes the requeue visible to the queue, and the failure to other callers.
func (r *retry) Unwrap() error { return r.error }

// IsRetry reports whether the result of a reconciliation is a failure that is retried with back-off.
func IsRetry(err error) bool {
	_, ok := errors.AsType[*retry](err)
	return ok
}

// Object is implemented by the objects that a generated reconciler passes to ReconcileKind.
type Object interface {
	duckv1.KRShaped
	runtime.Object
}

// Reported is a condition whose changes are reported. Ready cannot be one: the generated reconciler resets it for
// each new generation. The conditions that Ready depends on are reported.
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

// BeginEvents is called at the beginning of ReconcileKind, before anything is marked, and record after everything was marked.
//
// record emits an event for each condition that became False, or False for another reason, and for each that went from False to True, or to
// Unknown where that is Passing, by the recorder that the generated reconciler has put into ctx. An object that is ready from the start
// emits no event, which would double the number of writes.
func BeginEvents(obj Object, reported []Reported) (record func(ctx context.Context)) {
	before := obj.GetStatus().DeepCopy()
	return func(ctx context.Context) {
		recorder := controller.GetEventRecorder(ctx)
		for _, r := range reported {
			was, is := before.GetCondition(r.Condition), obj.GetStatus().GetCondition(r.Condition)
			switch {
			case is.IsFalse() && !(was.IsFalse() && was.Reason == is.Reason):
				recorder.Event(obj, corev1.EventTypeWarning, is.Reason, is.Message)
			case (is.IsTrue() || r.Passing && is.IsUnknown()) && was.IsFalse() && !slices.Contains(r.Quiet, is.Reason):
				recorder.Event(obj, corev1.EventTypeNormal, r.Reason, r.Message)
			}
		}
	}
}
