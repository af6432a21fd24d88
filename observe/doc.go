/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package observe calls functions when objects in the cluster change. A package declares the objects that interest it and a function; the
// watch, its repetition, queues, retries, leader election and shutdown are the work of this package and of knative.dev/pkg.
//
// It is for effects of each change: an audit, a notification, a metric. Work towards a desired state belongs in ReconcileKind.
//
//	var audited = observe.Metadata(corev1.SchemeGroupVersion.WithResource("secrets"), observe.Labels("audit=true"))
//
//	func init() { observe.Register("secret-audit", audited, onSecret) }
//
// A program has an observer if it imports the package that registers it, and passes the [Constructors] to sharedmain.
//
//	func main() { sharedmain.Main("observer", observe.Constructors()...) }
//
// [Subscribe] adds an observer while the process runs. An observer can rely on this:
//
//   - It receives each change that lasts at least once. After a restart it receives each object as Added in the initial list. An effect that
//     must not be missed when an object is deleted needs a finalizer.
//   - It receives the events of one object in order, one at a time. Between objects, and between observers, there is no order. An object is a namespace
//     and a name; one that was created again under them is another object, with another UID.
//   - A queued observer receives changes that happen during a call as one: from the state that it received last to the newest one. Changes that it
//     does not want are part of the next one.
//   - It receives one Deleted for each UID of which it has received an Added, also if the deletion was missed while the watch was
//     interrupted, and also if the object was created again since. For LeaderOnly this holds while the replica leads the object.
//   - Of each object at most two events are pending, whatever the rate of changes.
//   - The objects are shared with a cache, so they must not be changed.
//   - An error of a queued observer is retried with exponential back-off. A panic is an error.
//   - Stop returns when no call is running; afterwards none begins.
//
// At the end of a process, the controller of a registered, queued observer ends once it has delivered what is pending, unless the observer fails or needs
// more than five seconds; then the context of its call ends, too, and the number of objects with other events is logged. Without package hardening,
// knative.dev/pkg releases a lease at SIGTERM, and a replica that loses it drops what is pending. With it, the lease is kept while an observer delivers.
// The next leader receives each object that exists, but no deletion that was dropped.
//
// Most names are those of the typed handlers in client-go 0.37, which can replace parts of this package.
package observe
