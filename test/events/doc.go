/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package events tests what docs/explanation/events.md states about client-go, against the client-go that Mallard links. A test that fails after an update
// names a statement that is no longer true.
package events
