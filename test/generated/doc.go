/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package generated shows that the checks of what is generated find what is stale, was edited, or was left behind, and leave
// the checkout as it is.
//
// This suite tests the checks; make verify runs them on this repository.
package generated
