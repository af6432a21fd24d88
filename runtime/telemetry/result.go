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

// Result is how a reconciliation ended, as the queue of its controller understands it.
type Result string

const (
	// ResultSuccess is a reconciliation that returned no error, or an event of any type.
	ResultSuccess Result = "success"
	// ResultSkip is the reconciliation of an object that another replica leads.
	ResultSkip Result = "skip"
	// ResultRequeue is a reconciliation that asked for another one after a delay.
	ResultRequeue Result = "requeue"
	// ResultConflict is a reconciliation whose write met a concurrent change. It is retried.
	ResultConflict Result = "conflict"
	// ResultError is a reconciliation that failed and is retried with exponential back-off.
	ResultError Result = "error"
	// ResultPermanentError is a reconciliation that failed and is not retried.
	ResultPermanentError Result = "permanent_error"
)

var results = []Result{ResultSuccess, ResultSkip, ResultRequeue, ResultConflict, ResultError, ResultPermanentError}

// resultOf classifies in the order in which controller.Impl does, except that a failure that package failures requeues is a failure.
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
