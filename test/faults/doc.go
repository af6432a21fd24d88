/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package faults holds the suite of what must hold when something breaks: a process
// killed between two writes, a watch that is cut off, a directory that is deleted,
// an API server that rejects writes. Each test has its own environment.
package faults
