/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command assign-gen generates conversions between the versions of an API that lose nothing, at whichever version an object is read and
// written. Hand-written hooks convert what it cannot infer.
//
//	go run github.com/mallard-dev/mallard/conversion/cmd/assign-gen \
//	    --input-dirs ./apis/v1alpha1,./apis/v1beta1,./apis/v1 --go-header-file hack/boilerplate.go.txt
//
// One run can generate several APIs: packages in the same folder are the versions of one.
//
// For each API type it generates a storage type, which exists in memory only, and converts along this path:
//
//	v1alpha1 ─ v1alpha1/storage ─ v1beta1/storage ─ v1/storage ─ v1
//
// Fields correspond by their names in Go. A property bag keeps the values for which a version has no field, and an annotation carries them
// while the object is represented at that version; package conversion reads and writes both. A difference that assign-gen can neither convert
// nor keep is an error: it then writes nothing for any API and exits with a status other than 0.
//
// The command adopt prepares an API with hand-written conversions: docs/how-to/adopt-generated-conversions.md.
//
// docs/tutorial/second-version.md is the tutorial. docs/reference/assign-gen.md describes the flags, the files, the markers, the hooks and each error.
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
	switch {
	case flags.NArg() == 0:
		return generate.Run(a, os.Stdout)
	case flags.NArg() == 1 && flags.Arg(0) == "adopt":
		return generate.Adopt(a, os.Stdout)
	default:
		return fmt.Errorf("assign-gen takes flags and at most the command adopt, and got %q", flags.Args())
	}
}
