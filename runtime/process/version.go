/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// version is that of the release. The linker writes it here when make release builds the images.
var version = "devel"

// versionOnly answers --version, before anything else is looked at, and ends the process.
func versionOnly(component string) {
	flag.Bool("version", false, "print the version and exit")
	if isAsked(os.Args[1:], "version") {
		fmt.Fprintln(os.Stdout, component, version)
		os.Exit(0)
	}
}

// isAsked reports whether arguments contain one of these flags.
func isAsked(args []string, flags ...string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, isFlag := strings.CutPrefix(arg, "-")
		return isFlag && slices.Contains(flags, strings.TrimPrefix(name, "-"))
	})
}
