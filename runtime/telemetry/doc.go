/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package telemetry tells by metrics and spans what reconcilers do and why: how many
// passes there were and how they ended, how long they took, what woke each, what their
// queues look like, who leads. knative.dev/pkg measures the queues and the requests
// alone, and these partly wrong.
//
// A reconciler is wired in one line, after whatever else wraps it:
//
//	wakes := telemetry.Instrument(ctx, impl, "Widget")
//
// which counts, measures and traces its passes, and knows which of them are retries,
// requeues, or those of a new leader. What else woke a pass is known if the event
// handlers are made by On:
//
//	informer.AddEventHandler(wakes.On("Widget", telemetry.Event.Enqueue))
//	pods.AddEventHandler(wakes.On("Pod", func(e telemetry.Event) { e.EnqueueKey(ownerOf(e.Object)) }))
//
// Everything goes through the global providers of OpenTelemetry, which sharedmain sets
// as the config map config-observability says. Before they are set, or if they are
// set to none, nothing is kept. Register has to be called before sharedmain.
//
// No metric has the name of an object as a label; spans have them. Serving or pushing what
// is measured is not this package's job, nor are alerts and dashboards.
package telemetry
