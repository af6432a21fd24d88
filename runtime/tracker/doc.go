/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tracker implements knative.dev/pkg/tracker.Interface so that it forgets: an object that refers to others, by name or by
// label selector, is enqueued when one of them changes, as long as its last reconciliation tracked that reference.
//
// The implementation of knative.dev/pkg keeps every reference that an object ever had until the object is deleted, so a user who
// changes a reference in a loop fills the memory of the process. When an object is deleted, it searches the references of all objects.
// This implementation drops the references that a reconciliation does not track again, and deletes an object by its own references.
//
// telemetry.Instrument puts a [Tracker] into controller.Impl and calls [Tracker.Begin] and [Tracker.End].
package tracker
