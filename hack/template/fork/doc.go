/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package fork makes a fork of this repository: an operator with new names and, on request, with fewer kinds, versions and products. It works
// in a temporary folder next to the folder of the fork, and renames it at the end. In a fork, it merges later commits of the template.
package fork
