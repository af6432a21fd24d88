/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package leader lets the controllers of a process write only while the process leads, so that each object has one writer at a time.
// knative.dev/pkg's own election lets a standby write while the old leader still does. docs/adr/0006 has the reasons and the protocol.
//
// The keys are divided into shares, one per bucket. Each share has a lease, which all controllers of the process use. Reconcilers learn
// what they lead through knative's contract, reconciler.LeaderAware. Each share is in one of three states:
//
//	           claim, confirmed
//	standby ----------------------> leading
//	   ^                               |  SIGTERM, or another process requests the share:
//	   |                               |  no key begins
//	   |  released, or lost            v
//	   +--------------------------- leaving
//
// From leading and leaving, a lost lease leads back to standby at times that are fixed when a renewal is sent. A process that cannot keep
// to them exits.
package leader
