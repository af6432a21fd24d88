/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/generate"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	a := args.New()
	flags := pflag.NewFlagSet("assign-gen", pflag.ContinueOnError)
	a.AddFlags(flags)
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return fmt.Errorf("reading the command line: %w", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("assign-gen takes only flags, no arguments, and got %q", flags.Args())
	}
	return generate.Run(a, os.Stdout)
}
