/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fork shows that a fork can own an operator of one kind: reduce.sh removes everything else from a copy of the repository, and what
// is left generates, builds, passes its checks and its tests, and is small.
package fork
