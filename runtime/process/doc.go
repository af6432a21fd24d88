/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package process is what the operator's binaries share around sharedmain: their
// settings from the environment, their help, probes that mean something, and an
// election by runtime/leader.
//
// Settings that may change while a process runs are not its job; they are in
// config maps, which sharedmain watches.
package process
