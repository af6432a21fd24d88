/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/util/sets"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	serviceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/service"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// NewController connects the reconciler to its informers. The process calls it once,
// before any informer runs. The number of workers is the process-wide
// controller.DefaultThreadsPerController.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	addressableServices := addressableserviceinformer.Get(ctx)
	services := serviceinformer.Get(ctx)
	namespaces := namespaceinformer.Get(ctx)
	crds := crdinformer.Get(ctx)

	t := triggers.New("AddressableService")
	store := config.NewStore(logger.Named("config-store"), func(name string, _ any) {
		// The status of every object of our class depends on the ConfigMap.
		t.EnqueueConfigured(name, isOurs, addressableServices.Informer())
	})
	store.WatchConfigs(cmw)
	h := &handlers{triggers: t, config: store, objects: addressableServices.Informer()}
	kinds, err := restmapping.NewFinder(ctx, crds.Informer().GetIndexer(), kubeclient.Get(ctx).Discovery(), h.discovered)
	if err != nil {
		logger.Fatalw("Failed to index CustomResourceDefinitions", "error", err)
	}
	r := &Reconciler{
		kube:                kubeclient.Get(ctx),
		samples:             client.Get(ctx),
		addressableServices: addressableServices.Lister(),
		services:            services.Lister(),
		namespaces:          namespaces.Lister(),
		aliases:             services.Informer().GetIndexer(),
		scope:               injection.GetNamespaceScope(ctx),
		kinds:               kinds,
		addressables:        ducks.New(ctx, dynamicclient.Get(ctx), &duckv1.AddressableType{}, sets.New[string](), h.addressables(), h.readable),
		failures:            failures.New(),
	}
	impl := addressableservicereconciler.NewImpl(ctx, r, samples.ClassMallard, func(*controller.Impl) controller.Options {
		return controller.Options{ConfigStore: store, FinalizerName: samples.FinalizerName}
	})
	t.Wire(impl, triggers.Guards{Objects: addressableServices.Informer().GetIndexer(), Expectations: expectations.New(nil), Failures: r.failures})

	if err := errors.Join(
		triggers.Setup(addressableServices.Informer(), addressableServiceIndexers(), nil, h.addressableServices()),
		triggers.Setup(services.Informer(), serviceIndexers(), triggers.DropManagedFields, h.services()),
		triggers.Setup(namespaces.Informer(), nil, triggers.DropManagedFields, h.namespaces()),
		triggers.Setup(crds.Informer(), nil, restmapping.Trim(), h.crds(r.kinds, r.addressables)),
	); err != nil {
		logger.Fatalw("Failed to set up the informers", "error", err)
	}
	return impl
}
