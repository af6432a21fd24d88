/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Plain is the controller without package hardening. Two processes on one machine cannot both serve knative.dev/pkg's probes, whose port is fixed.
package main

import (
	filteredfactory "knative.dev/pkg/client/injection/kube/informers/factory/filtered"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/signals"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressableservice"
	"github.com/mallard-dev/mallard/pkg/reconciler/addressbinding"
	"github.com/mallard-dev/mallard/pkg/reconciler/simpledeployment"
)

func main() {
	ctx := filteredfactory.WithSelectors(sharedmain.WithHealthProbesDisabled(signals.NewContext()), samples.PodOwnerUIDLabelKey)
	sharedmain.MainWithContext(ctx, "controller",
		addressableservice.NewController,
		addressbinding.NewController,
		simpledeployment.NewController,
	)
}
