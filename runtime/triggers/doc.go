/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package triggers enqueues the objects of a controller, and calls its reconciler for those that were enqueued.
//
// A [Triggers] creates the event handlers of informers. A handler enqueues the keys of the objects that an event concerns, together
// with the cause, which a metric counts and the span of the reconciliation names:
//
//	t := triggers.New("Widget")
//	widgets.AddEventHandler(t.Handler("Widget", triggers.Event.Enqueue))
//	pods.AddEventHandler(t.Handler("Pod", func(e triggers.Event) { e.EnqueueKey(ownerOf(e.Object)) }))
//	t.Wire(impl, triggers.Guards{...})
//
// [Triggers.Wire] puts everything that is common to all kinds in front of the generated reconciler; see reconciler.go.
//
// Keys that are not urgent (all objects after a promotion, a ConfigMap change or a resync) wait in a backlog until the queue is
// short, so that an object that has just changed does not wait behind them. The slow lane of knative.dev/pkg does not achieve this:
// it moves its keys into the same FIFO queue as all others at once.
package triggers
