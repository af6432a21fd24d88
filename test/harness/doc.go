/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package harness shows that package localcluster/env/harness does for a suite what it documents, with this operator and with a separate program.
package harness
