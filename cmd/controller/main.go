/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The controller reconciles the samples. Its permissions are in config/200-controller-roles.yaml and, for each kind, in
// config/200-KIND-roles.yaml. config/controller.yaml deploys it.
package main

import (
	filteredFactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressableservice"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressbinding"
	"github.com/mallard-dev/mallard/pkg/reconciler/simpledeployment"
	"github.com/mallard-dev/mallard/runtime/process"
)

type settings struct {
	process.Settings

	Workers process.Count `envconfig:"WORKERS" default:"8" desc:"how many objects each controller reconciles at a time"`
}

func main() {
	var s settings
	process.MustLoad("controller", "reconciles the objects of samples.knative.dev", &s)
	controller.DefaultThreadsPerController = int(s.Workers)

	process.Run(filteredFactory.WithSelectors(signals.NewContext(), samples.PodOwnerUIDLabelKey), process.Process{
		Component: "controller",
		Settings:  s.Settings,
		Parsers:   process.NewParsers(config.Parsers, config.Components...),
		Controllers: []injection.ControllerConstructor{
			hardening.Constructor(addressableservice.NewController),
			addressbinding.NewController,
			hardening.Constructor(simpledeployment.NewController),
		},
	})
}
