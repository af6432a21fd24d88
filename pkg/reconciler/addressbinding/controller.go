/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// NewController wires the reconciler with its sources. The process calls it once, before any informer runs. The number of workers is the
// process-wide controller.DefaultThreadsPerController.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	t, on := observe.NewTriggers("AddressBinding"), newDependents(addressBindings.Lister(ctx))
	served := func(versions sets.Set[schema.GroupVersion]) {
		t.Enqueue(observe.Served, "Subject", on.onServed(versions))
	}
	mapper, err := restmapping.NewMapper(ctx, crdinformer.Get(ctx).Informer().GetIndexer(), kubeclient.Get(ctx).Discovery(), served)

	r := newReconciler(ctx, mapper, served)
	impl := addressbindingreconciler.NewImpl(ctx, r, func(*controller.Impl) controller.Options {
		return controller.Options{FinalizerName: samples.AddressBindingFinalizerName}
	})
	watches := []observe.Watch{
		observe.For(addressBindings),
		observe.When(addressBindings, on.onBinding),
		observe.Maps(addressableServices, on.onAddressableService),
		observe.When(namespaces, on.onNamespace),
		observe.When(crds, on.onCRD(mapper, r.subjects)),
		observe.When(configurations, on.onWebhook),
	}
	for _, subjects := range r.subjects {
		watches = append(watches, observe.When(observe.Duck[ducks.Object]("Subject", subjects), on.onSubject))
	}
	if err := errors.Join(err, t.Wire(ctx, impl, observe.Guards{Expectations: r.expectations, Failures: r.failures}, watches...)); err != nil {
		logging.FromContext(ctx).Fatalw("Wiring the reconciler failed", "error", err)
	}
	return impl
}
