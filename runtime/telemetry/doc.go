/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package telemetry exports metrics and spans of reconcilers and of the process: how many reconciliations there were, by result, how
// long they took, which events triggered them, which leases the process holds, what the API server responds, whether the process is
// ready and its ConfigMaps are valid. knative.dev/pkg measures queues and requests only, and these partly wrong.
//
// Everything goes through the global providers of OpenTelemetry, which sharedmain sets according to the ConfigMap
// config-observability. Register must be called before sharedmain.
//
// No metric has the name of an object as a label; spans have them. Package triggers calls [Kind.Begin] for each reconciliation.
package telemetry
