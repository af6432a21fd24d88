/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package command is the command line of localcluster: it parses arguments, turns signals and the end of standard input
// into a stop, and errors into one line and an exit code. What the commands do lives in package cluster and in kubectl.
package command
