/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	crdinformer "knative.dev/pkg/client/injection/apiextensions/informers/apiextensions/v1/customresourcedefinition"
	mutatinginformer "knative.dev/pkg/client/injection/kube/informers/admissionregistration/v1/mutatingwebhookconfiguration"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection/clients/dynamicclient"
	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/logging"
	pkgreconciler "knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressbindinginformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressbinding"
	addressbindingreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressbinding"
)

// NewController returns the controller of AddressBindings, and adds the handlers that enqueue them.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	bindings, services, namespaces := addressbindinginformer.Get(ctx), addressableserviceinformer.Get(ctx), namespaceinformer.Get(ctx)
	crds, webhooks := crdinformer.Get(ctx), mutatinginformer.Get(ctx)
	if err := crds.Informer().SetTransform(binding.WithoutSchemas(func(string) bool { return false })); err != nil {
		logging.FromContext(ctx).Warnw("The schemas of CRDs stay in memory", "error", err)
	}

	r := &Reconciler{
		dynamic:  dynamicclient.Get(ctx),
		bindings: bindings.Lister(), addressableServices: services.Lister(), namespaces: namespaces.Lister(), crds: crds.Lister(), webhooks: webhooks.Lister(),
		clock: clock.RealClock{}, attempts: expiring.NewExpiring(),
	}
	impl := addressbindingreconciler.NewImpl(ctx, r, func(*controller.Impl) controller.Options {
		return controller.Options{FinalizerName: samples.AddressBindingFinalizerName}
	})
	r.tracker = impl.Tracker
	r.subjects = newSubjects(ctx, impl.Tracker.OnChanged)

	// A binding also enqueues those that want the same variable, which the tracker cannot express.
	bindings.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))
	bindings.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: impl.Tracker.OnDeletedObserver})
	bindings.Informer().AddEventHandler(whenChanged(contenders(bindings.Lister(), impl.Enqueue), readClaim))
	services.Informer().AddEventHandler(controller.HandleAll(
		controller.EnsureTypeMeta(impl.Tracker.OnChanged, v1.SchemeGroupVersion.WithKind("AddressableService"))))
	// Namespaces opt in and out.
	namespaces.Informer().AddEventHandler(controller.HandleAll(
		controller.EnsureTypeMeta(impl.Tracker.OnChanged, corev1.SchemeGroupVersion.WithKind("Namespace"))))
	// A CRD concerns the bindings of its group. Its name ends with that, also in a tombstone.
	crds.Informer().AddEventHandler(controller.HandleAll(func(obj any) {
		if crd, err := kmeta.DeletionHandlingAccessor(obj); err == nil {
			_, group, _ := strings.Cut(crd.GetName(), ".")
			impl.FilteredGlobalResync(func(obj any) bool {
				ab, ok := obj.(*v1.AddressBinding)
				return ok && ab.Spec.Subject.GroupVersionKind().Group == group
			}, bindings.Informer())
		}
	}))
	// The rules of the webhook concern the condition Intercepted.
	webhooks.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: pkgreconciler.NameFilterFunc(binding.WebhookName),
		Handler:    controller.HandleAll(func(any) { impl.GlobalResync(bindings.Informer()) }),
	})
	return impl
}
