/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package imports sorts import paths into the groups of .golangci.yaml, for commands that write Go files with the paths of a fork.
package imports

import "strings"

// Groups is the number of groups: the standard library, other modules, Knative's, and the module's own packages.
const Groups = 4

// Group returns the group of an import in a module, from 0.
func Group(module, path string) int {
	first, _, _ := strings.Cut(path, "/") // a path without a slash is its own first part
	switch {
	case path == module || strings.HasPrefix(path, module+"/"):
		return 3
	case first == "knative.dev":
		return 2
	case strings.Contains(first, "."):
		return 1
	default:
		return 0
	}
}
