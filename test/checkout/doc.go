/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package checkout clones the repository as it is, committed or not, for tests that change the files of the clone and run its commands.
package checkout
