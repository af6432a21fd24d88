/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package reconciler holds the suite of what a generated reconciler, its queue and injection make of what is written by hand:
// what each result of ReconcileKind, FinalizeKind and ObserveKind leads to, what of the status is written when, what a link
// to an accessor registers, what the options of the marker +genreconciler change. All of it is behavior of knative.dev/pkg, shown
// on the reconciler that is generated for AddressableServices; docs/reference/knative-pkg.md lists it. A test that fails after
// an update of knative.dev/pkg says what there is not true any more.
//
// It also holds what every kind with a reconciler has: stubs, and a test of its controller on fakes.
//
// It needs no control plane. Our own reconcilers are tested in their packages and in the other suites.
package reconciler
