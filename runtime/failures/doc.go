/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package failures is the failure policy of all reconcilers: why a step did not reach the desired state, and when to retry.
//
// Steps return a *[Failure] instead of an error, because most of them need no retry: a missing target is reported in a condition, and
// when it is created, its watch event enqueues the object. Each kind defines its own reasons, marks its conditions, and ends its
// reconciliation with [Failures.Outcome]:
//
//	cause                                        condition          next reconciliation
//	the spec or a watched object                 reason, message    when the object changes
//	something that is not watched                reason, message    after Failure.Recheck
//	a request failed                             reason, message    back-off per object, 1 s to 30 s
//	  conflict                                   unchanged          first after 100 ms, then the same
//	  429 or 5xx with Retry-After                reason, message    not before that time
//	  rejected (4xx), in one namespace           reason, message    two per second and namespace
//
// A failure that [Expected] accepts, such as a conflict or an object that was deleted concurrently, is neither logged nor counted as an error.
//
// Retries do not use the queue's rate limiter: its bucket is shared by all objects, and its delays grow to 17 minutes.
package failures
