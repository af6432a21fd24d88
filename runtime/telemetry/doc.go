/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package telemetry exports metrics and spans of reconcilers and of the process; docs/reference/metrics.md lists them. knative.dev/pkg
// measures queues and requests only, and these partly wrong.
//
// Everything goes through the global providers of OpenTelemetry, which sharedmain sets according to the ConfigMap
// config-observability. [Register] must be called before sharedmain. Package observe calls [Kind.Begin] for each reconciliation.
//
// No metric has the name of an object as a label, because there may be millions; spans have them.
package telemetry
