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
)

// version is that of the release. The linker writes it here when make release builds the images.
var version = "devel"

// versionOnly answers --version, before anything else is looked at, and ends the process.
func versionOnly(component string) {
	flag.Bool("version", false, "print the version and exit")
	if slices.ContainsFunc(os.Args[1:], isVersion) {
		fmt.Fprintln(os.Stdout, component, version)
		os.Exit(0)
	}
}

func isVersion(arg string) bool {
	return slices.Contains([]string{"-version", "--version"}, arg)
}
