/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package terminal runs programs on a pseudoterminal and reads the text on its screen.
package terminal
