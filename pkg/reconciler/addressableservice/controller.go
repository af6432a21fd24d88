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
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/informers"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// NewController wires the reconciler to its informers. sharedmain calls it once,
// before any informer runs. The number of workers is the process-wide
// controller.DefaultThreadsPerController.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	addressableServices := addressableserviceinformer.Get(ctx)
	services := serviceinformer.Get(ctx)
	namespaces := namespaceinformer.Get(ctx)
	crds := crdinformer.Get(ctx)

	r := &Reconciler{
		kube:                kubeclient.Get(ctx),
		samples:             client.Get(ctx),
		addressableServices: addressableServices.Lister(),
		services:            services.Lister(),
		namespaces:          namespaces.Lister(),
		aliases:             services.Informer().GetIndexer(),
		scope:               injection.GetNamespaceScope(ctx),
		failures:            failures.NewFailures(),
	}

	writes := expectations.NewWrites(nil)
	recording := expectations.WithRecordedWrites(ctx, writes, client.Key{}, versioned.NewForConfig)
	var store *config.Store
	var wakes *telemetry.Wakes
	impl := addressableservicereconciler.NewImpl(recording, r, samples.ClassMallard, func(*controller.Impl) controller.Options {
		// What the config map says goes into the status of every object of our class.
		resync := func(name string, _ any) { wakes.EnqueueConfigured(name, isOurs, addressableServices.Informer()) }
		store = config.NewStore(logger.Named("config-store"), resync)
		store.WatchConfigs(cmw)
		return controller.Options{ConfigStore: store, FinalizerName: samples.FinalizerName}
	})
	impl.Reconciler = expectations.Guard(r.failures.Guard(impl.Reconciler, impl.EnqueueKey), addressableServices.Informer().GetIndexer(), writes)
	wakes = telemetry.Instrument(ctx, impl, "AddressableService")
	r.tracker = impl.Tracker

	w := &wakers{Reconciler: r, wakes: wakes, config: store, objects: addressableServices.Informer()}
	var err error
	if r.kinds, err = restmapping.NewFinder(ctx, crds.Informer().GetIndexer(), r.kube.Discovery(), w.discovered); err != nil {
		logger.Fatalw("Failed to index CustomResourceDefinitions", "error", err)
	}
	r.addressables = ducks.New(ctx, dynamicclient.Get(ctx), &duckv1.AddressableType{}, sets.New[string](), w.ducks(), w.readable)
	if err := errors.Join(
		informers.Setup(addressableServices.Informer(), addressableServiceIndexers(), nil, w.addressableServices()...),
		informers.Setup(services.Informer(), serviceIndexers(), informers.DropManagedFields, w.services()...),
		informers.Setup(namespaces.Informer(), nil, informers.DropManagedFields, w.namespaces()),
		informers.Setup(crds.Informer(), nil, restmapping.Trim(), w.crds()),
	); err != nil {
		logger.Fatalw("Setting up the informers failed", "error", err)
	}
	return impl
}
