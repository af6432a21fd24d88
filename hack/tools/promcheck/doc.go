/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Promcheck runs the queries of a dashboard and of alert rules in Prometheus' own engine
// over what processes have exported, and fails when one of them does not parse, names a metric that
// nobody exports, finds nothing, or, if it is an alert's, finds something. Its tests show that
// each alert of monitoring/ fires on the trouble that it is for.
//
// It is a module of its own since Prometheus brings the dependencies of a data base. It scrapes nobody:
// the suite test/monitoring, which has a control plane, does and runs it.
package main
