/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"

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
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
	"github.com/mallard-dev/mallard/runtime/ducks"
	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// NewController connects the reconciler to its informers. The process calls it once, before any informer runs. The number of workers is
// the process-wide controller.DefaultThreadsPerController.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	bindings := addressbindinginformer.Get(ctx)
	addressableServices := addressableserviceinformer.Get(ctx)
	namespaces := namespaceinformer.Get(ctx)
	crds := crdinformer.Get(ctx)
	webhooks := mutatinginformer.Get(ctx)

	h := &handlers{triggers: triggers.New("AddressBinding"), bindings: bindings.Informer(), choices: lru.New(maxChoices)}
	kinds, err := restmapping.NewFinder(ctx, crds.Informer().GetIndexer(), kubeclient.Get(ctx).Discovery(), h.served)
	if err != nil {
		logger.Fatalw("Failed to index CustomResourceDefinitions", "error", err)
	}
	// Not the informers that injection generates: docs/adr/0005-own-duck-informers.md.
	subjects := make(shapes)
	for _, shape := range binding.Shapes {
		subjects[shape] = ducks.New(ctx, dynamicclient.Get(ctx), shape.New(), sets.New(samples.BoundVariablesAnnotationKey), h.subjects(), h.readable)
	}
	r := &Reconciler{
		dynamic:             dynamicclient.Get(ctx),
		bindings:            bindings.Lister(),
		addressableServices: addressableServices.Lister(),
		namespaces:          namespaces.Lister(),
		webhooks:            webhooks.Lister(),
		kinds:               kinds,
		subjects:            subjects,
		expectations:        expectations.New(nil),
		attempts:            newAttempts(clock.RealClock{}),
		failures:            failures.New(),
	}
	impl := addressbindingreconciler.NewImpl(ctx, r, func(*controller.Impl) controller.Options {
		return controller.Options{FinalizerName: samples.AddressBindingFinalizerName}
	})
	h.triggers.Wire(impl, triggers.Guards{Objects: bindings.Informer().GetIndexer(), Expectations: r.expectations, Failures: r.failures})

	if err := errors.Join(
		triggers.Setup(bindings.Informer(), nil, triggers.DropManagedFields, h.addressBindings()),
		triggers.Setup(addressableServices.Informer(), nil, nil, h.addressableServices()),
		triggers.Setup(namespaces.Informer(), nil, triggers.DropManagedFields, h.namespaces()),
		triggers.Setup(crds.Informer(), nil, restmapping.Trim(), h.crds(kinds, subjects)),
		triggers.Setup(webhooks.Informer(), nil, triggers.DropManagedFields, h.webhooks()),
	); err != nil {
		logger.Fatalw("Failed to set up the informers", "error", err)
	}
	return impl
}
