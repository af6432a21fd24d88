/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The process of hooks runs the programs below kodata/hooks when objects in the cluster change, and executes the operations with which they
// answer. config/hooks.yaml deploys it, and config/200-hooks.yaml has its permissions.
package main

import (
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/crud/hook/shell"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/runtime/process"
)

type settings struct {
	process.Settings
}

func main() {
	shell.Main() // the hooks may run this executable as their shell

	var s settings
	process.MustLoad("hooks", "runs programs when objects change, and executes the operations with which they answer", &s)
	process.Run(signals.NewContext(), process.Process{
		Component: "hooks",
		Settings:  s.Settings,
		Parsers:   process.NewParsers(config.Parsers, config.Components...),
		// It runs few programs, one at a time in each queue.
		OneLeader: true,
	})
}
