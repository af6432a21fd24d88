/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package monitoring holds the suite of what an operator's owner sees: that processes export the metrics that the
// queries and alerts of monitoring/ name, and docs/reference/metrics.md describes, that queries find something and no alert fires
// while all is well, what spans and logs contain, and that the log's level is changed while processes run.
//
// In the nightly tests promtool, Prometheus' own tool, evaluates queries and alerts and runs the tests of the alerts in
// monitoring/rules_test.yaml.
package monitoring
