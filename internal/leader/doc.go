/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package leader lets the controllers of a process work only while the process
// holds its lease, so that of several replicas one writes at a time.
//
// knative.dev/pkg has an election of its own, which is not used: when a process is
// told to stop it gives the lease back first and lets its workers end after that, and
// when a lease cannot be renewed it tries to give it back before it tells the
// reconcilers, for as long as renewing may take. Both let a standby write while the
// old leader still does. The election here is that of client-go, and the contract with
// reconcilers is knative's (reconciler.LeaderAware), so generated reconcilers need not
// know. The order is:
//
//   - told to stop: no key is begun any more, those that are being worked on come to
//     their end while the lease is still renewed, the lease is given back;
//   - the lease could not be renewed: the same, but within what is left of the lease.
//     A worker that does not end by then ends with the process.
//
// There is one lease for a process and not one for each of its controllers: they
// need the same of a leader, and each lease costs requests for as long as the
// process runs.
//
// What is served without a leader, as admission is, is not its job, and neither is
// when a process is ready.
package leader
