/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package availability tests which requests succeed when a process of the operator stops, dies or is cut off, and when its certificate expires:
// which replica writes, how long none does, and which requests fail. The numbers are those of docs/explanation/availability.md.
package availability
