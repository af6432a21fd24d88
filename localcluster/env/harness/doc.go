/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package harness gives a test suite a real API server and the operator, with functions that change
// objects and check conditions.
//
// A suite starts one environment for its test binary:
//
//	func TestMain(m *testing.M) { harness.Main(m) }
//
// and its tests, which may run in parallel, share it:
//
//	env := harness.Shared(t)
//	ns := env.Namespace(t)
//	refs := env.Apply(t, ns, manifest)
//	env.Await(t, refs[0], harness.Ready)
//
// A test that disturbs what others rely on, such as a process, a ConfigMap or a webhook, starts a separate
// environment with [Own], or runs alone.
//
// # Waiting
//
// Nothing sleeps. [Env.Await] watches an object until it is as wanted, [Eventually] looks again and again at anything
// else, both with a deadline. [Env.Throughout] shows that something has held all along: it looks at every state that an
// object went through while something else happened. [Mark.Entries] and [Env.Requests] return the requests to the API server in between, with their users.
//
// # Disturbing
//
// [Env.Process] kills and restarts processes. [WithProxy] puts a [Proxy] between a process and the API server, which cuts
// connections, loses packets, holds or fails requests, and keeps back watch events. [Env.StartAPIServer] starts one more API server on the same
// etcd, which the test stops and starts, and [Env.Compact] removes the history of etcd.
//
// The package knows nothing of what the operator does; that is for the suites.
package harness
