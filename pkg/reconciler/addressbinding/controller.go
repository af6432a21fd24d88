/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/keymutex"

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
	"github.com/mallard-dev/mallard/pkg/duckinformer"
	"github.com/mallard-dev/mallard/pkg/freshness"
	"github.com/mallard-dev/mallard/pkg/informers"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
	"github.com/mallard-dev/mallard/pkg/since"
	"github.com/mallard-dev/mallard/pkg/telemetry"
)

// locks is how many subjects can be patched at a time at most.
const locks = 64

// NewController wires the reconciler to its informers. sharedmain calls it once,
// before any informer runs. The number of workers is the process-wide
// controller.DefaultThreadsPerController.
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
		failures:            problem.NewFailures(),
		written:             newWritten(),
		patching:            keymutex.NewHashed(locks),
		unused:              since.New[listing](remembered),
		troubles:            problem.NewTroubles(),
		refused:             since.New[state](remembered),
	}

	writes := freshness.NewWrites()
	recording := freshness.WithRecordedWrites(ctx, writes, client.Key{}, versioned.NewForConfig)
	impl := addressbindingreconciler.NewImpl(recording, r, func(*controller.Impl) controller.Options {
		return controller.Options{FinalizerName: samples.AddressBindingFinalizerName}
	})
	generated, ok := impl.Reconciler.(freshness.LeaderAware)
	if !ok {
		logger.Fatalf("The generated reconciler is a %T, which is not leader-aware", impl.Reconciler)
	}
	impl.Reconciler = freshness.Guard(r.failures.Guard(generated, impl.EnqueueKey), bindings.Informer().GetIndexer(), writes)
	wakes := telemetry.Instrument(ctx, impl, "AddressBinding")
	r.tracker = impl.Tracker

	w := &wakers{wakes: wakes, tracker: impl.Tracker, bindings: bindings.Informer()}
	finder, err := kinds.NewFinder(ctx, crds.Informer().GetIndexer(), kubeclient.Get(ctx).Discovery(), w.discovered)
	if err != nil {
		logger.Fatalw("Failed to index CustomResourceDefinitions", "error", err)
	}
	r.kinds, w.kinds = finder, finder
	r.subjects = make(map[binding.Shape]*duckinformer.Factory)
	for _, shape := range binding.Shapes {
		r.subjects[shape] = duckinformer.New(ctx, r.dynamic, shape.New(), nil, w.subjects(), w.readable)
	}
	w.stop = func(match func(schema.GroupVersionResource) bool) {
		for _, factory := range r.subjects {
			factory.Stop(match)
		}
	}
	if err := errors.Join(
		informers.Setup(bindings.Informer(), bindingIndexers(), informers.DropManagedFields, w.addressBindings()...),
		informers.Setup(addressableServices.Informer(), nil, nil, w.addressableServices()),
		informers.Setup(namespaces.Informer(), nil, informers.DropManagedFields, w.namespaces()),
		informers.Setup(crds.Informer(), nil, kinds.Trim(), w.crds()),
		informers.Setup(webhooks.Informer(), nil, informers.DropManagedFields, w.webhooks()),
	); err != nil {
		logger.Fatalw("Setting up the informers failed", "error", err)
	}
	return impl
}
