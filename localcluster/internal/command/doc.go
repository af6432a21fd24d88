/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package command is the command line of localcluster: it parses arguments, turns signals and the end of standard input
// into a stop, and errors into one line and an exit code. Package cluster and kubectl implement the commands.
package command
