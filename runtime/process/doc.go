/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package process starts and ends an operator's processes. It takes the place of knative.dev/pkg's sharedmain, with whose
// exported parts [Run] is built:
//
//	settings, ports, REST config ─► ConfigMaps are checked ─► clients and informers (injection) ─► log, probes, metrics
//	─► controllers and webhooks are constructed ─► each is instrumented, and attached to leader election
//	─► ConfigMaps are watched ─► webhooks are served ─► informers fill their caches ─► workers and the election run
//
// After SIGTERM the reconciliations and requests under way are finished, the leases are released, and metrics are exported.
//
// A binary reads its settings from the environment by [MustLoad]. Settings that may change while a process runs are in
// ConfigMaps, which [Parsers] check, at the start and in admission.
package process
