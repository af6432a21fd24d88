/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package faults tests what holds when something breaks: a process is killed between two writes, a watch ends, the directory is deleted, the API
// server rejects writes. Each test has its own environment.
package faults
