/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package expectations keeps a reconciler from working on an object that its cache holds in a state from before the reconciler's own
// last write.
//
// A reconciliation that writes the status is often followed by another one at once, because the object was modified concurrently. If the watch has
// not delivered the write yet, the second one sees the old status, writes the new one again, and meets a conflict; the generated reconciler of
// knative.dev/pkg then reads and writes again. Nothing is lost by postponing it: the event of the write enqueues the object.
//
// A reconciler that counts the objects that it creates has more to lose: with a cache that lacks its last write it would create or
// delete one too many. [Expectations] remembers these writes, too, however late the watch is.
//
// A reconciler has to tolerate that its cache lacks what others wrote.
package expectations
