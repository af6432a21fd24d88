/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package costs tests how many requests the operator sends to the API server. Counts are exact, so they
// are tests; times are not, and are compared only with what the same machine needed for the same number of requests a moment before.
//
// In the shared environment it counts the requests for a namespace in the audit log. The nightly tests have separate environments, in which the API
// server itself counts the requests of all clients.
//
// make bench-peer compares the operator with Knative's sample-controller and with the controller in testdata/controllerruntime, a module that alone requires
// controller-runtime. Each runs on a separate control plane.
package costs
