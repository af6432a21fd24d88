/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package generated tests that the checks of generated files find what is stale, was edited, or was left behind, and leave the checkout as it is.
package generated
