/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/keymutex"

	"knative.dev/pkg/apis/duck"
	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	"knative.dev/pkg/client/injection/ducks/duck/v1/podspecable"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/client/injection/ducks/duck/v1alpha1/configurable"
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

	finder, err := kinds.NewFinder(crds.Informer().GetIndexer(), kubeclient.Get(ctx).Discovery())
	if err != nil {
		logger.Fatalw("Setting up the look-up of kinds failed", "error", err)
	}
	r := &Reconciler{
		dynamic:             dynamicclient.Get(ctx),
		bindings:            bindings.Lister(),
		addressableServices: addressableServices.Lister(),
		namespaces:          namespaces.Lister(),
		webhooks:            webhooks.Lister(),
		kinds:               finder,
		failures:            problem.NewFailures(),
		written:             newWritten(),
		patching:            keymutex.NewHashed(locks),
		unused:              since.New[listing](remembered),
		troubles:            problem.NewTroubles(),
		refused:             since.New[state](remembered),
	}

	writes := freshness.NewWrites()
	impl := addressbindingreconciler.NewImpl(withRecordedWrites(ctx, writes), r, func(*controller.Impl) controller.Options {
		return controller.Options{FinalizerName: samples.AddressBindingFinalizerName}
	})
	generated, ok := impl.Reconciler.(freshness.LeaderAware)
	if !ok {
		logger.Fatalf("The generated reconciler is a %T, which is not leader-aware", impl.Reconciler)
	}
	impl.Reconciler = freshness.Guard(r.failures.Guard(generated, impl.EnqueueKey), bindings.Informer().GetIndexer(), writes)
	wakes := telemetry.Instrument(ctx, impl, "AddressBinding")
	r.tracker = impl.Tracker

	w := &wakers{wakes: wakes, tracker: impl.Tracker, bindings: bindings.Informer(), kinds: finder}
	ctx, w.stop = withSafeDucks(ctx, r.dynamic, w.subjects())
	r.subjects = map[binding.Shape]duck.InformerFactory{
		binding.PodTemplate:  podspecable.Get(ctx),
		binding.CronJob:      cronJobs(ctx),
		binding.Configurable: configurable.Get(ctx),
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

// cronJobsKey is to CronJobs what the Keys of the generated packages are to other duck types: knative.dev/pkg generates none
// for its duckv1.CronJob.
type cronJobsKey struct{}

func cronJobs(ctx context.Context) duck.InformerFactory {
	return ctx.Value(cronJobsKey{}).(duck.InformerFactory) //nolint:forcetypeassert // withSafeDucks has put it there
}

// withSafeDucks returns a context in which the informer factories of the duck types are ours, under the keys of those that
// injection has put there: podspecable.Get(ctx) and configurable.Get(ctx) return them. The generated ones wait for ever for an
// object that does not fit, and cannot be stopped; see docs/adr/0005-own-duck-informers.md. They are made from the client that
// was injected, so that a fake one is used as well. The second result stops the informers of all of them.
func withSafeDucks(ctx context.Context, client dynamic.Interface, handler cache.ResourceEventHandler) (
	safe context.Context, stop func(func(schema.GroupVersionResource) bool),
) {
	var all []*duckinformer.Factory
	for shape, key := range map[binding.Shape]any{
		binding.PodTemplate:  podspecable.Key{},
		binding.CronJob:      cronJobsKey{},
		binding.Configurable: configurable.Key{},
	} {
		factory := duckinformer.New(ctx, client, shape.New(), handler)
		all = append(all, factory)
		ctx = context.WithValue(ctx, key, factory) //nolint:fatcontext // one for each of three shapes
	}
	return ctx, func(match func(schema.GroupVersionResource) bool) {
		for _, factory := range all {
			factory.Stop(match)
		}
	}
}
