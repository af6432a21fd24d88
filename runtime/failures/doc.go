/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package failures is the failure policy of all reconcilers: why a step did not reach the desired state, and when to try again.
//
// Steps return a *[Failure] instead of an error, because most of them need no retry: a missing target is reported in a condition, and
// when it is created, its watch event enqueues the object. Each kind defines its own reasons, and marks its conditions itself.
//
//	cause                                        condition          next reconciliation
//	the spec or a watched object                 reason, message    when the object changes
//	something that is not watched                reason, message    after Failure.Recheck
//	a request failed                             reason, message    back-off per object, 1 s to 30 s
//	  conflict                                   unchanged          first after 100 ms, then the same
//	  429 or 5xx with Retry-After                reason, message    not before that time
//	  refused (4xx), in one namespace            reason, message    two per second and namespace
//
// # Rate limits
//
// Retries do not use the queue's rate limiter: its bucket is shared by all objects, and its delays grow to 17 minutes. They are
// requeued with a delay, which no other object affects. [Failures.Result] does the same for the requests of the generated
// reconciler, and [Failures.Wait] limits a failing object to one reconciliation per second.
//
// client-go sleeps in the worker if a response has a Retry-After header; [Transport] leaves the delay to the back-off.
//
// A user can create thousands of objects that the API server refuses because of a quota or policy. Retries of such objects are
// paced per namespace. As soon as one succeeds, the others are enqueued, four for each success.
//
// # Steady messages
//
// A status update enqueues the object. If its message contained a port or a request ID, each retry would cause the next one.
// [Failures.Outcome] therefore keeps the message of a condition that fails with the same reason again, for five minutes. After a
// restart of the process, one more status update is written.
//
// # Events
//
// [Events] reports the beginning and the end of failures. That an object is ready from the start is no event: it would double the
// number of writes.
package failures
