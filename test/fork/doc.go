/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fork makes forks of the checkout under random names, with all of its kinds and with each combination of them. It shows that a fork has no name of the
// template left, passes its checks and tests, runs, is small, and merges later commits of the template.
package fork
