/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "crd-gen:", err)
		os.Exit(1)
	}
}

// run generates the CRDs that the arguments ask for. Nothing is written unless all of them are in order.
func run(args []string) error {
	flags := flag.NewFlagSet("crd-gen", flag.ContinueOnError)
	root := flags.String("root", ".", "folder of the module whose types are read")
	packages := flags.String("packages", "./pkg/apis/...", "packages that hold the API types, relative to root")
	var converter webhookService
	flags.Var(&converter, "conversion-webhook", "NAMESPACE/NAME of the Service that converts kinds of several versions")
	output := flags.String("output", "config", "folder that the CRDs are written to, relative to the working directory")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the command line: %w", err)
	}

	crds, err := generate(*root, *packages)
	if err != nil {
		return err
	}
	files := make(map[string][]byte, len(crds))
	for _, crd := range crds {
		if err := check(crd); err != nil {
			return err
		}
		if err := converter.convert(crd); err != nil {
			return err
		}
		content, err := render(crd)
		if err != nil {
			return err
		}
		files[fileName(crd)] = content
	}
	return replace(*output, files)
}
