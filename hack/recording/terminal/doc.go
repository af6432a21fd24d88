/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package terminal keeps the text on the screen of a terminal.
package terminal
