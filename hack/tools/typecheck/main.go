/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// exitUsage is the exit status after a bad flag.
const exitUsage = 2

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var what target
	flags := flag.NewFlagSet("typecheck", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&what.system, "os", runtime.GOOS, "operating system that is compiled for, as in GOOS")
	flags.StringVar(&what.module, "module", ".", "folder of the module")
	flags.StringVar(&what.modfile, "modfile", "", "file that is read in place of go.mod, relative to the module")
	flags.StringVar(&what.tags, "tags", "", "build tags, separated by commas")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	what.patterns = flags.Args()
	if len(what.patterns) == 0 {
		fmt.Fprintln(stderr, "typecheck: the packages are missing, such as ./...")
		return exitUsage
	}
	found, err := what.check(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "typecheck: %v\n", err)
		return 1
	}
	for _, problem := range found.problems {
		fmt.Fprintln(stderr, problem)
	}
	if len(found.problems) > 0 {
		return 1
	}
	fmt.Fprintf(stdout, "typecheck: %s for %s: %d packages, %d with what they import\n", filepath.Clean(what.module), what.system, found.own, found.all)
	return 0
}
