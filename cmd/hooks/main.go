/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The process of hooks runs the programs in kodata/hooks and a hook in Go when objects in the cluster change, and executes the operations with
// which they answer, or has them answer admission reviews. config/hooks.yaml deploys it. Its permissions are in config/200-hooks.yaml and, for each hook, in
// a file such as config/200-KIND-hooks.yaml.
package main

import (
	"context"
	"fmt"
	"path/filepath"

	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/crud/hook/shell"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/runtime/hooks"
	"github.com/mallard-dev/mallard/runtime/process"
)

type settings struct {
	process.Settings
	hooks.Webhook

	ConfidentialKinds confidential.Kinds `envconfig:"CONFIDENTIAL_KINDS" desc:"kinds whose values are masked as those of Secrets, such as Vault.example.com, separated by commas"`

	MetricPrefix hook.MetricPrefix `envconfig:"METRIC_PREFIX" desc:"text with which the names of the metrics of hooks begin, such as shop_"`

	Data string `envconfig:"KO_DATA_PATH" default:"kodata" desc:"folder whose subfolder hooks has the hooks; ko sets it"`
}

func main() {
	// A hook may run this executable as its shell, and its functions do.
	shell.Main()
	hook.Main()

	var s settings
	process.MustLoad("hooks", "runs programs when objects change, and executes the operations with which they answer", &s)
	process.Run(signals.NewContext(), process.Process{
		Component: "hooks",
		Settings:  s.Settings,
		Parsers:   process.NewParsers(config.Parsers, config.Components...),
		// Hooks run on one replica.
		OneLeader: true,
		Prepare: func(ctx context.Context, p *process.Process) error {
			options := hook.Options{Command: shell.Command, ConfidentialKinds: s.ConfidentialKinds, MetricPrefix: s.MetricPrefix}
			loaded, err := hook.Load(ctx, filepath.Join(s.Data, "hooks"), options)
			if err != nil {
				return fmt.Errorf("loading the hooks: %w", err)
			}
			loaded = append(loaded, labelsOfServices())
			return hooks.Add(p, options, s.Webhook, loaded...)
		},
	})
}
