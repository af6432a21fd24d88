/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package failures ends reconciliations that did not reach the desired state.
//
// Steps return a *[Failure] instead of an error, because most of them need no retry: a missing target is reported in a condition, and
// when it is created, the tracker enqueues the object. Each kind defines its own reasons, marks its conditions, and frames ReconcileKind and
// FinalizeKind with [Begin]:
//
//	end := failures.Begin(as, reported)
//	unresolved := r.reconcileTarget(ctx, as)
//	return end(ctx, unresolved)
//
// The result depends on the cause:
//
//	cause                              condition          next reconciliation
//	the spec or a tracked object       reason, message    when the object changes
//	something that nothing watches     reason, message    after Failure.Recheck
//	a request failed                   reason, message    with back-off, or after RetryDelay
//	  conflict, canceled               unchanged          the same
//
// The generated reconciler logs a returned error and records an event InternalError each time. An error that also wraps a requeue is
// returned as it is: the transition of the condition is the event.
package failures
