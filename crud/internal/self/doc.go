/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package self finds the executable of this process, so that hooks can call it.
package self
