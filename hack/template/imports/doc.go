/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package imports sorts import paths into the groups of .golangci.yaml, for commands that write Go files with the paths of a fork.
package imports
