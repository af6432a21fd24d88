/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The controller reconciles the samples. Without hardening.Constructors it is a plain Knative controller.
package main

import (
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/injection/sharedmain"

	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/configuration"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressableservice"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressbinding"
	"github.com/mallard-dev/mallard/pkg/reconciler/simpledeployment"
)

func main() {
	ctx := filteredfactory.WithSelectors(configuration.NewContext(), samples.PodOwnerUIDLabelKey)
	sharedmain.MainWithContext(ctx, "controller", hardening.Parsers(configuration.AtStart()).Constructors(
		addressableservice.NewController,
		addressbinding.NewController,
		simpledeployment.NewController,
	)...)
	hardening.Exit()
}
