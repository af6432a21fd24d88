/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice holds the suite of what users of an AddressableService
// are promised: what is Ready when, with which address, and what is left alone.
// Everything runs on a control plane with the operator's real processes.
//
// See the suites admission, faults and costs for what is rejected, and for what happens when something fails.
package addressableservice
