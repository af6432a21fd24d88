/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package reconciler tests the behavior of knative.dev/pkg that docs/reference/knative-pkg.md lists, on the reconciler that is generated for
// AddressableServices: what each result of ReconcileKind, FinalizeKind and ObserveKind leads to, when which part of the status is written, and what
// the options of the marker +genreconciler change. It also tests that each kind with a reconciler has stubs, and a test of its controller on fakes.
// It needs no control plane.
package reconciler
