/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package stdio separates what the program says to people from what the parts that are linked into it write to standard
// error: some of these hold the file descriptor before main begins, so that it has to lead elsewhere itself.
package stdio
