/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"

	"github.com/mallard-dev/mallard/localcluster/internal/command"
)

func main() {
	os.Exit(command.Main(os.Args, os.Stdin, os.Stdout))
}
