/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package jq compiles jq programs, and describes their errors without the values that they process.
package jq
