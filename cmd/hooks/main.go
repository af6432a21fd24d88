/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The process of hooks runs the programs in kodata/hooks and a hook in Go when objects in the cluster change, and executes the operations with
// which they answer, or has them answer admission reviews. kustomize/overlays/hooks deploys it. Its permissions are in 200-hooks.yaml of that
// folder and, for each hook, in a file such as 200-KIND-hooks.yaml.
package main

import (
	"log"
	"path/filepath"

	"github.com/kelseyhightower/envconfig"

	"knative.dev/pkg/injection/sharedmain"

	"github.com/mallard-dev/mallard/confidential"
	"github.com/mallard-dev/mallard/crud/hook"
	"github.com/mallard-dev/mallard/crud/hook/shell"
	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/pkg/configuration"
)

// settings are the environment variables of the process. Those of knative.dev/pkg and of package hardening are read by these.
type settings struct {
	hook.WebhookSettings

	ConfidentialKinds confidential.Kinds `envconfig:"CONFIDENTIAL_KINDS" desc:"kinds whose values are masked as those of Secrets, such as Vault.example.com, separated by commas"`
	MetricPrefix      hook.MetricPrefix  `envconfig:"METRIC_PREFIX" desc:"text with which the names of the metrics of hooks begin, such as shop_"`
	Data              string             `envconfig:"KO_DATA_PATH" default:"kodata" desc:"folder whose subfolder hooks has the hooks; ko sets it"`
}

func main() {
	// A hook may run this executable as its shell, and its functions do.
	shell.Main()
	hook.Main()

	var s settings
	if err := envconfig.Process("", &s); err != nil {
		log.Fatal(err)
	}
	ctx := configuration.NewContext()
	options := hook.Options{Command: shell.Command, ConfidentialKinds: s.ConfidentialKinds, MetricPrefix: s.MetricPrefix}
	hooks, err := hook.Load(ctx, filepath.Join(s.Data, "hooks"), options)
	if err != nil {
		log.Fatal(err)
	}
	ctx, constructors, err := hook.Constructors(ctx, options, s.WebhookSettings, append(hooks, labelsOfServices())...)
	if err != nil {
		log.Fatal(err)
	}
	sharedmain.MainWithContext(ctx, "hooks", hardening.Parsers(configuration.AtStart()).Constructors(constructors...)...)
	hardening.Exit()
}
