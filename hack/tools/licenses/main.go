/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/klog/v2"
)

// exitUsage is the exit status after a bad flag.
const exitUsage = 2

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root of the module whose programs are looked at")
	output := flags.String("output", "third_party", "folder that is written anew")
	own := flags.String("own", "github.com/mallard-dev/mallard", "import path below which code is our own")
	platforms := flags.String("platforms", "linux/amd64,linux/arm64", "platforms that the programs are built for")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(stderr, "licenses: the packages of the programs are missing, such as ./cmd/...")
		return exitUsage
	}
	// go-licenses warns of assembly, whose licence is that of its package. Its errors are returned as well.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	// Another working folder comes before the output's, which is relative to this one.
	absolute, err := filepath.Abs(*output)
	if err == nil {
		err = os.Chdir(*root)
	}
	var found []component
	if err == nil {
		found, err = linked(ctx, *own, strings.Split(*platforms, ","), flags.Args())
	}
	if err == nil {
		err = writeAll(absolute, found)
	}
	if err != nil {
		fmt.Fprintf(stderr, "licenses: %v\n", err)
		return 1
	}
	return 0
}

var errNoPlatform = errors.New("must be a system and an architecture such as linux/amd64")
