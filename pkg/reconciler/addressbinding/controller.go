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
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/informers"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// NewController connects the reconciler to its informers. sharedmain calls it once, before any informer runs. The number of workers is
// the process-wide controller.DefaultThreadsPerController.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	bindings := addressbindinginformer.Get(ctx)
	addressableServices := addressableserviceinformer.Get(ctx)
	namespaces := namespaceinformer.Get(ctx)
	crds := crdinformer.Get(ctx)
	webhooks := mutatinginformer.Get(ctx)

	r := &Reconciler{
		dynamic:             dynamicclient.Get(ctx),
		bindings:            bindings.Lister(),
		addressableServices: addressableServices.Lister(),
		namespaces:          namespaces.Lister(),
		webhooks:            webhooks.Lister(),
		memory:              newMemory(clock.RealClock{}),
		failures:            failures.NewFailures(),
	}

	writes := expectations.NewWrites(nil)
	recording := expectations.WithRecordedWrites(ctx, writes, client.Key{}, versioned.NewForConfig)
	impl := addressbindingreconciler.NewImpl(recording, r, func(*controller.Impl) controller.Options {
		return controller.Options{FinalizerName: samples.AddressBindingFinalizerName}
	})
	impl.Reconciler = expectations.Guard(r.failures.Guard(impl.Reconciler, impl.EnqueueKey), bindings.Informer().GetIndexer(), writes)

	h := &handlers{wakes: telemetry.Instrument(ctx, impl, "AddressBinding"), bindings: bindings.Informer(), choices: lru.New(maxChoices)}
	finder, err := restmapping.NewFinder(ctx, crds.Informer().GetIndexer(), kubeclient.Get(ctx).Discovery(), h.served)
	if err != nil {
		logger.Fatalw("Failed to index CustomResourceDefinitions", "error", err)
	}
	r.kinds, h.kinds = finder, finder
	r.subjects = make(map[binding.Shape]*ducks.Factory)
	keep := sets.New(samples.BoundVariablesAnnotationKey)
	for _, shape := range binding.Shapes {
		// Not the informers that injection generates: docs/adr/0005-own-duck-informers.md.
		r.subjects[shape] = ducks.New(ctx, r.dynamic, shape.New(), keep, h.subjects(), h.readable)
	}
	h.stop = func(match func(schema.GroupVersionResource) bool) {
		for _, factory := range r.subjects {
			factory.Stop(match)
		}
	}
	if err := errors.Join(
		informers.Setup(bindings.Informer(), nil, informers.DropManagedFields, h.addressBindings()),
		informers.Setup(addressableServices.Informer(), nil, nil, h.addressableServices()),
		informers.Setup(namespaces.Informer(), nil, informers.DropManagedFields, h.namespaces()),
		informers.Setup(crds.Informer(), nil, restmapping.Trim(), h.crds()),
		informers.Setup(webhooks.Informer(), nil, informers.DropManagedFields, h.webhooks()),
	); err != nil {
		logger.Fatalw("Setting up the informers failed", "error", err)
	}
	return impl
}
