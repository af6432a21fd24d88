/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package update merges later commits of the template into a fork. The template's program makes the fork again, from the recorded
// commit and from the new one, and git merges the difference of the two into the fork.
package update
