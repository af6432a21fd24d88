/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package transitions tells of the changes that a pass made to an object's conditions, by events.
//
// An event is for what somebody may want to act on, or to know that they need no more: trouble that began or became
// another, and its end. That an object is well from the start is none: with many objects it would double the writes.
//
// Which conditions are worth it, and what the end of trouble is called, is the business of each kind.
package transitions
