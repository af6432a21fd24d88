/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"slices"
	"strings"
)

// version is that of the release. The linker writes it here when make release builds the images.
var version = "devel"

// isAsked reports whether arguments contain one of these flags.
func isAsked(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, isFlag := strings.CutPrefix(arg, "-")
		return isFlag && slices.Contains(flags, strings.TrimPrefix(name, "-"))
	})
}
