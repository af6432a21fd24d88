/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package hooks shows what package crud/hook documents: with hooks in Go and executables, which run in this process against an API server.
package hooks
