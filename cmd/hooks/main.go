/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The process of hooks runs the programs in kodata/hooks when objects in the cluster change, and executes the operations with which they
// answer. config/hooks.yaml deploys it. Its permissions are in config/200-hooks.yaml and, for each hook, in a file such as
// config/200-KIND-hooks.yaml.
package main

import (
	"context"
	"path/filepath"

	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/crud/hook/shell"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/runtime/process"
)

type settings struct {
	process.Settings

	Data string `envconfig:"KO_DATA_PATH" default:"kodata" desc:"folder whose subfolder hooks has the hooks; ko sets it"`
}

func main() {
	// A hook may run this executable as its shell, and its functions do.
	shell.Main()
	hook.Main()

	var s settings
	process.MustLoad("hooks", "runs programs when objects change, and executes the operations with which they answer", &s)
	process.Run(signals.NewContext(), process.Process{
		Component:   "hooks",
		Settings:    s.Settings,
		Parsers:     process.NewParsers(config.Parsers, config.Components...),
		Controllers: []injection.ControllerConstructor{constructor(filepath.Join(s.Data, "hooks"))},
		// Hooks run on one replica.
		OneLeader: true,
	})
}

// constructor returns the constructor of the controller that runs the hooks of a folder.
func constructor(folder string) injection.ControllerConstructor {
	return func(ctx context.Context, configMaps configmap.Watcher) *controller.Impl {
		options := hook.Options{Command: shell.Command}
		hooks, err := hook.Load(ctx, folder, options)
		if err != nil {
			logging.FromContext(ctx).Fatalw("Loading the hooks failed", "error", err)
		}
		construct, err := hook.NewController(options, hooks...)
		if err != nil {
			logging.FromContext(ctx).Fatalw("Constructing the controller of the hooks failed", "error", err)
		}
		return construct(ctx, configMaps)
	}
}
