/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package costs tests how many requests the operator sends to the API server, counted by the API server itself. Counts are exact, so they
// are tests; times are not, and are compared only with what the same machine needed for the same number of requests a moment before.
//
// Its tests run one after the other: the requests of all clients count.
package costs
