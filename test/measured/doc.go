/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package measured reads the metrics of a test process for the suites of libraries, which run in it.
package measured
