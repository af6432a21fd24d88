/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"os"

	"github.com/mallard-dev/mallard/hack/template/kind"
)

func addKind(ctx context.Context, args []string) error {
	options, err := kind.ParseOptions(args, "KIND", "VERSION", "OWNS", "BINDS", "FINALIZER")
	if err != nil {
		return err
	}
	return kind.Add(ctx, ".", options, os.Stdout)
}

func dropKind(ctx context.Context, args []string) error {
	options, err := kind.ParseOptions(args, "KIND", "FORCE")
	if err != nil {
		return err
	}
	return kind.Drop(ctx, ".", options, os.Stdout)
}
