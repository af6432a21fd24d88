/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package monitoring holds the suite of what an operator's owner sees: that the queries of
// monitoring/ find something in what the processes export and its alerts do not fire while all is well,
// that docs/reference/metrics.md names each metric, what spans and logs contain, and that the log's level is
// changed while processes run.
//
// Queries and alerts are evaluated by promtool, Prometheus' own tool, which also runs the tests of the alerts in
// monitoring/rules_test.yaml. That each number is right is tested in runtime/telemetry.
package monitoring
