/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package test contains a folder for each suite. A suite tests one subject on a real API server with the operator; CONTRIBUTING.md lists the
// subjects. The package itself has no code.
//
// # The shared environment
//
// make test starts one control plane with the operator, and runs the suites side by side on it: harness.Main attaches to it. A suite
// that runs alone starts the same environment for itself. So a test must not rely on being alone, and must not disturb the others:
//
//   - Its namespaces are those of harness.Env.Namespace. Objects that it creates elsewhere, such as an alias, have names that contain its namespace.
//   - A CustomResourceDefinition has a group that no other test uses, such as its namespace with a domain. harness.Env.Define deletes it again.
//   - Webhook configurations, admission policies and cluster roles name that namespace or group in their selectors and rules.
//   - A test that needs a user with few permissions makes one, and grants roles in its namespace.
//   - It finds its requests in the audit log by user and namespace, and its lines in a log by the object's key. Others
//     increase totals, such as the metrics of a process, at the same time.
//   - It does not wait for the deletion of a namespace, which waits for those of all other tests.
//   - If it uses a version of a kind that config/ does not serve, its suite has the option harness.AllVersions. The shared environment serves all. If it uses
//     hooks, its suite has the option harness.WithOverlay, and the shared environment runs them.
//
// Tests run in parallel and in any order, several times in a row, and wait for conditions. None takes longer than ten seconds.
//
// # Errors in the logs
//
// A suite fails if the operator has logged an error that no test declares with harness.Env.ExpectErrors: each failed
// reconciliation is one line at the level ERROR, as a test of package hardening shows for each kind of result, so that lines are counted for both. A line
// belongs to the suite whose namespace it contains; in an environment that the suite has started, all lines do, also those before its first test. One
// of a single test, harness.Own, fails that test. What happens in the normal life of objects is no error: a conflict, an object or a namespace that
// is deleted concurrently, a used-up quota.
//
// # Values of Secrets
//
// The Secrets of the tests have the values of harness.Canary. The end of a test searches all objects for them, and that of a suite what the tests
// and the operator print, metrics, and what the suite adds with harness.Search, such as the logs, spans and metrics of code that runs in the
// suite itself. A suite that fails is not searched, since the messages of its tests may contain what they have found: repair the tests first.
// Package localcluster/test, which tests the control plane without the operator, has no canaries.
//
// # Separate environments
//
// A separate environment costs a control plane and half a minute. The table below has what needs one.
//
// One test starts it with harness.Own. A whole suite does with harness.Separate or an option that changes the operator. Either way the files
// have the build tag nightly, with which make test-nightly compiles them too, unless the table below has a reason for make test, which starts few.
// The tag also marks tests that take long whatever they wait for, and larger variants of others: a constant in two files, one with the tag
// nightly and one with !nightly. A rule that unit tests prove needs no suite.
//
// These suites start environments of this kind. A test in test/repository compares the table with the code.
//
//	suite               make test   nightly   because
//	addressableservice  -           yes       the deletion of a namespace is awaited
//	addressbinding      -           yes       requests fail and watches stop; reconciliations of all bindings are counted
//	admission           -           yes       the webhook stops; CRDs and ConfigMaps of the operator change; memory is measured
//	availability        -           yes       replicas stop, die and are cut off
//	config              yes         -         the ConfigMaps of the operator change, and every object follows
//	conversion          -           yes       the webhook stops
//	costs               -           yes       requests of all clients are counted; the controller restarts
//	crud                -           yes       an aggregated API is broken, so that the deletion of namespaces stops
//	docs                -           yes       commands of the documents stop processes and use images
//	faults              -           yes       requests fail, processes are killed, the directory is deleted
//	fork                -           yes       a fork runs from its images
//	hardening           -           yes       controllers of others run
//	harness             -           yes       the harness itself is tested
//	hooks               -           yes       the process of the hooks stops; requests fail
//	install             -           yes       one overlay is installed; the webhook stops
//	migration           -           yes       the storage versions of the operator's CRDs change
//	monitoring          -           yes       two replicas; log levels and tracing change
//	observe             -           yes       the history of etcd is compacted
//	operations          -           yes       the operator is installed and removed
//	operator            -           yes       processes restart and die, requests fail, overlays are applied without an operator
//	permissions         -           yes       every request of a process's life is recorded
//	plain               -           yes       other programs run: the operator without package hardening
//	pods                -           yes       the operator runs in Pods
//	process             -           yes       processes start and stop
//	run                 -           yes       make run uses the cluster of a user
//	simpledeployment    -           yes       requests fail, processes are killed, images run
//	tenants             -           yes       the requests and the memory of an attacked operator are measured
//
// Tests with the build tag peers, too, run only in the part peers of make test-nightly: they need the source of a controller of others.
package test
