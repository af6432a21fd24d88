/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package storage holds the types that v1 is converted through in memory, which assign-gen makes of the API types.
package storage
