/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"knative.dev/pkg/controller"

	"github.com/mallard-dev/mallard/runtime/failures"
)

// Result is how a pass ended, as the queue of its controller understands it.
type Result string

const (
	// ResultSuccess is a pass that returned no error. A reconciler that returns an event, even one of type Warning, has
	// succeeded.
	ResultSuccess Result = "success"
	// ResultSkip is a pass over an object that is another replica's job.
	ResultSkip Result = "skip"
	// ResultRequeue is a pass that asked for another one after a while.
	ResultRequeue Result = "requeue"
	// ResultConflict is a pass whose write was refused since the object had changed meanwhile. It is tried again.
	ResultConflict Result = "conflict"
	// ResultError is a pass that failed and is tried again, later each time.
	ResultError Result = "error"
	// ResultPermanentError is a pass that failed and is not tried again until something changes.
	ResultPermanentError Result = "permanent_error"
)

var results = []Result{ResultSuccess, ResultSkip, ResultRequeue, ResultConflict, ResultError, ResultPermanentError}

// resultOf classifies in the order in which controller.Impl does, except that a failure that package problem requeues is a failure.
func resultOf(err error) Result {
	requeue, _ := controller.IsRequeueKey(err)
	switch {
	case err == nil:
		return ResultSuccess
	case controller.IsSkipKey(err):
		return ResultSkip
	case requeue && !failures.IsRetry(err):
		return ResultRequeue
	case apierrors.IsConflict(err):
		return ResultConflict
	case controller.IsPermanentError(err):
		return ResultPermanentError
	default:
		return ResultError
	}
}

// failed is whether somebody should look.
func (r Result) failed() bool { return r == ResultError || r == ResultPermanentError }

// next is what the queue makes of a result, if it wakes the object again by itself.
func (r Result) next() (Cause, bool) {
	switch r {
	case ResultRequeue:
		return Cause{What: Requeued}, true
	case ResultConflict, ResultError:
		return Cause{What: Retried}, true
	case ResultSuccess, ResultSkip, ResultPermanentError:
	}
	return Cause{}, false
}
