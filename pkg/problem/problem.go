/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package problem

import (
	"fmt"
	"time"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/reconciler"
)

// A pass that met something which no watch reports, such as a permission that is
// missing, is repeated within these bounds.
const (
	// FirstRecheck is after how long a new problem is looked at again.
	FirstRecheck = time.Second

	// LastRecheck is how often one is that has lasted for long.
	LastRecheck = 30 * time.Second
)

// Problem is why a step did not reach what the spec asks for. It is what a
// condition will say, and what is to happen next:
//
//	neither Err nor Recheck   something that is watched has to change first
//	Recheck                   no watch will tell; look again after that time
//	Err                       unexpected; the queue retries with back-off
//
// A nil *Problem is none.
type Problem struct {
	// Reason is that of the condition, in CamelCase.
	Reason string
	// Message is that of the condition, for the one who reads it.
	Message string
	// Recheck is the time after which to look again, for what no watch tells.
	Recheck time.Duration
	// Err is the unexpected error that the queue is to retry.
	Err error
}

// Newf returns a problem that ends when something watched changes, with a formatted message.
func Newf(reason, format string, args ...any) *Problem {
	return &Problem{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// Failed returns the problem of an unexpected error, whose text is the message.
func Failed(reason string, err error) *Problem {
	return &Problem{Reason: reason, Message: err.Error(), Err: err}
}

// Outcome is what ReconcileKind returns for the problems of its steps, nil among them for the steps that had none. The
// first error beats all else, because its back-off starts earlier than a recheck; then comes the earliest recheck. The
// result is nil where watches tell of every change, for then the pass is complete.
func Outcome(problems ...*Problem) reconciler.Event {
	var recheck time.Duration
	for _, p := range problems {
		switch {
		case p == nil:
		case p.Err != nil:
			return p.Err
		case p.Recheck > 0 && (recheck == 0 || p.Recheck < recheck):
			recheck = p.Recheck
		}
	}
	if recheck > 0 {
		return controller.NewRequeueAfter(recheck)
	}
	return nil
}

// RecheckAfter is when to look again at a problem that has lasted for a while: after
// as long once more. A permission that came together with the kind is in force in
// a moment, and one that nobody grants is not to be asked for all the time.
func RecheckAfter(lasted time.Duration) time.Duration {
	return min(max(lasted, FirstRecheck), LastRecheck)
}

// Lasted is how long a condition has been False for a reason, by what the last pass left of it: zero if it was not, so
// that the problem is new. A nil condition is one that was never marked.
func Lasted(last *apis.Condition, reason string) time.Duration {
	if !last.IsFalse() || last.Reason != reason {
		return 0
	}
	return time.Since(last.LastTransitionTime.Inner.Time)
}
