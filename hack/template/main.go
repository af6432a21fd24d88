/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The template program copies and changes this repository as a template: the targets of the Makefile run its commands.
package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/mallard-dev/mallard/hack/template/fork"
	"github.com/mallard-dev/mallard/hack/template/kind"
)

// command runs with the arguments that follow its name. The root of the repository is the working directory. The context ends when the
// program receives SIGINT or SIGTERM.
type command func(ctx context.Context, args []string) error

// commands are the program's commands by name.
var commands = map[string]command{
	"drop":    ofKind(kind.Drop, "KIND", "FORCE"),
	"kind":    ofKind(kind.Add, "KIND", "VERSION", "OWNS", "SCOPE"),
	"version": ofKind(kind.AddVersion, "KIND", "VERSION"),
	"fork":    fork.Run,
	"update":  fork.Update,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "template:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	known := strings.Join(slices.Sorted(maps.Keys(commands)), ", ")
	if len(args) == 0 {
		return fmt.Errorf("no command is named; the commands are %s", known)
	}
	command, ok := commands[args[0]]
	if !ok {
		return fmt.Errorf("unknown command %q; the commands are %s", args[0], known)
	}
	return command(ctx, args[1:])
}

// ofKind returns the command that changes the kinds of the repository, and has these variables.
func ofKind(change func(context.Context, string, kind.Options, io.Writer) error, variables ...string) command {
	return func(ctx context.Context, args []string) error {
		options, err := kind.ParseOptions(args, variables...)
		if err != nil {
			return err
		}
		return change(ctx, ".", options, os.Stdout)
	}
}
