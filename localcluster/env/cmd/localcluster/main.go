/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Localcluster builds the local control plane if its program is not in the user's cache yet.
//
//	go tool localcluster build           prints the program's path
//	go tool localcluster exec ARGS...    becomes the program with these arguments, for example "kubectl get pods"
//
// Progress and errors go to standard error.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

var errUsage = errors.New(`usage: "build", or "exec" and the arguments of localcluster, for example "exec kubectl get pods"`)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "localcluster/env/cmd/localcluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] != "exec" && (args[0] != "build" || len(args) > 1) {
		return errUsage
	}
	binary, err := controlplane.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	if args[0] == "build" {
		if _, err := fmt.Println(binary); err != nil {
			return fmt.Errorf("printing the program's path: %w", err)
		}
		return nil
	}
	//nolint:gosec // That is what the command is for.
	if err := syscall.Exec(binary, append([]string{"localcluster"}, args[1:]...), os.Environ()); err != nil {
		return fmt.Errorf("running %s: %w", binary, err)
	}
	return nil
}
