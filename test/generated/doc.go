/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package generated shows that the checks of what is generated find what is stale, was edited, or was left behind, and leave
// the checkout as it is.
//
// That nothing here is stale is not its job: make verify says so.
package generated
