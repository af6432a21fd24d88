/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package process holds the suite of how the operator's processes begin and end beside an
// API server: when they are ready, what they say when they cannot start, and what they
// leave behind.
//
// What they reject before they have talked to an API server is the job of runtime/process;
// what happens when they are killed, that of test/faults.
package process
