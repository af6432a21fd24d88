/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package command runs the commands that the template program is made of, and ends them with all of their processes.
package command
