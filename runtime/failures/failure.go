/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package failures

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Failure is why a step did not reach the desired state. It determines the condition's reason and message, and what happens next:
//
//	neither Err nor Recheck   a watched object has to change first; its event enqueues the object
//	Recheck                   no watch reports the change: reconcile again after that time
//	Err                       a request failed: retry with back-off
//
// A nil *Failure means success.
type Failure struct {
	// Reason is the condition's reason, in CamelCase.
	Reason string
	// Message is the condition's message.
	Message string
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
// only that the object was modified concurrently, and for a request that was canceled, which says nothing about the cluster.
func (f *Failure) Marked() bool {
	return f != nil && !apierrors.IsConflict(f.Err) && !errors.Is(f.Err, context.Canceled)
}
