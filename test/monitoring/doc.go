/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package monitoring tests what an administrator sees: the metrics that the queries and alerts of monitoring/ name and
// docs/reference/metrics.md describes, that queries find something and no alert fires while all is well, the content of spans and logs, and changes
// of the log level. In the nightly tests Prometheus' promtool evaluates the queries, and runs the tests of the alerts in monitoring/rules_test.yaml.
package monitoring
