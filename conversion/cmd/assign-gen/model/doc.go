/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package model describes the API packages that conversions are generated for, as far as conversions care: types and
// their fields, how JSON names them, and which comment lines are markers.
//
// The description knows nothing of the go command, so that the planner can be tried on descriptions that no file holds; only read.go
// makes one from packages that are loaded. It judges nothing.
package model
