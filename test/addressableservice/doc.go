/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package addressableservice holds the suite of what users of an AddressableService
// are promised: what is Ready when, with which address, and what is left alone.
// Everything runs on a control plane with the operator's real processes.
//
// What is rejected on admission is not its job, nor are faults and costs; they have
// suites of their own.
package addressableservice
