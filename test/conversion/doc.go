/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package conversion holds the suite of what clients of older versions see and do: what is read at a version, what an edit
// there changes at the others, what is stored, byte for byte, and who owns which field.
//
// Moving stored objects from one version to another is the job of the suite migration. That conversions in themselves lose
// nothing is shown where they are, with random objects.
package conversion
