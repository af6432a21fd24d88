/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The controller reconciles the samples. Without hardening.Constructors it is a plain Knative controller.
package main

import (
	"os"

	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/hardening"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/configuration"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressableservice"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressbinding"
	"github.com/mallard-dev/mallard/pkg/reconciler/simpledeployment"
)

func main() {
	ctx := injection.WithNamespaceScope(filteredfactory.WithSelectors(signals.NewContext(), samples.PodOwnerUIDLabelKey), os.Getenv("WATCH_NAMESPACE"))
	sharedmain.MainWithContext(ctx, "controller", hardening.Parsers(configuration.AtStart()).Constructors(
		addressableservice.NewController,
		addressbinding.NewController,
		simpledeployment.NewController,
	)...)
	hardening.Exit()
}
