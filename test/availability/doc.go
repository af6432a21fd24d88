/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package availability holds the suite of what goes on when a process of the operator
// stops, dies or is cut off, and when its certificate ends: who writes, how long
// nobody does, and what the cluster notices. The numbers are those of
// docs/explanation/availability.md.
//
// What a single object comes to when something breaks is the job of test/faults.
package availability
