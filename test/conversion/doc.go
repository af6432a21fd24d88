/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package conversion tests what clients of older versions see and do: what they read at a version, what an edit there changes at the others, what is
// stored, byte for byte, and who owns which field. Package migration tests how stored objects move from one version to another.
package conversion
