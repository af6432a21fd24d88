/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	duckv1 "knative.dev/pkg/apis/duck/v1"
	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// NewController wires the reconciler with its sources. The process calls it once, before any informer runs. The number of workers is the
// process-wide controller.DefaultThreadsPerController.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	t, on := observe.NewTriggers("AddressableService"), dependents{objects: addressableServices.Lister(ctx)}
	on.config = config.NewStore(logging.FromContext(ctx).Named("config-store"), func(name string, _ any) { t.Enqueue(observe.Configured, name, on.onConfig()) })
	on.config.WatchConfigs(cmw)
	served := func(versions sets.Set[schema.GroupVersion]) {
		t.Enqueue(observe.Served, "Addressable", on.onServed(versions))
	}
	mapper, err := restmapping.NewMapper(ctx, crdinformer.Get(ctx).Informer().GetIndexer(), kubeclient.Get(ctx).Discovery(), served)
	addressables := ducks.New(ctx, dynamicclient.Get(ctx), &duckv1.AddressableType{}, sets.New[string](), served)

	r := newReconciler(ctx, mapper, addressables)
	impl := addressableservicereconciler.NewImpl(ctx, r, samples.ClassMallard, func(*controller.Impl) controller.Options {
		return controller.Options{ConfigStore: on.config, FinalizerName: samples.FinalizerName}
	})
	if err := errors.Join(err, t.Wire(ctx, impl, observe.Guards{Expectations: expectations.New(nil), Failures: r.failures},
		observe.For(addressableServices, isOurs),
		observe.Maps(addressableServices, on.onObject),
		observe.Maps(services, on.onService),
		observe.Maps(namespaces, on.onNamespace),
		observe.Maps(observe.Duck[ducks.Object]("Addressable", addressables), on.onDuck),
		observe.When(crds, on.onCRD(mapper, addressables)),
	)); err != nil {
		logging.FromContext(ctx).Fatalw("Wiring the reconciler failed", "error", err)
	}
	return impl
}
