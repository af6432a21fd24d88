/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package harness tests package localcluster/env/harness, with this operator and with a separate program.
package harness
