/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package monitoring holds the suite of what an operator's owner sees: that the queries of
// monitoring/ find something in what the processes export and its alerts do not fire while all is well,
// that docs/observability.md names each metric, what spans and logs tell, and that the log's level is
// changed while processes run.
//
// That each number is right is the job of runtime/telemetry; that each alert fires on its trouble, that of
// hack/tools/promcheck, which this suite runs.
package monitoring
