/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/client/injection/ducks/duck/v1/addressable"
	kubeclient "knative.dev/pkg/client/injection/kube/client"
	namespaceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/namespace"
	serviceinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/service"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/config"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	samplesclient "github.com/mallard-dev/mallard/pkg/client/injection/client"
	addressableserviceinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1/addressableservice"
	addressableservicereconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1/addressableservice"
)

// NewController wires the reconciler with its informers.
func NewController(ctx context.Context, cmw configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)
	addressableServices, services, namespaces := addressableserviceinformer.Get(ctx), serviceinformer.Get(ctx), namespaceinformer.Get(ctx)
	isOurs := reconciler.AnnotationFilterFunc(samples.ClassAnnotationKey, samples.ClassMallard, false)

	r := &Reconciler{
		kube: kubeclient.Get(ctx), client: samplesclient.Get(ctx).SamplesV1(), scope: injection.GetNamespaceScope(ctx),
		addressableServices: addressableServices.Lister(), namespaces: namespaces.Lister(),
		services: services.Lister(), aliases: services.Informer().GetIndexer(),
	}
	impl := addressableservicereconciler.NewImpl(ctx, r, samples.ClassMallard, func(impl *controller.Impl) controller.Options {
		resync := configmap.TypeFilter(&config.Addressable{})(func(string, any) { impl.FilteredGlobalResync(isOurs, addressableServices.Informer()) })
		store := config.NewStore(logger.Named("config-store"), resync)
		store.WatchConfigs(cmw)
		r.directories = store.Directories
		return controller.Options{ConfigStore: store, FinalizerName: samples.FinalizerName}
	})
	r.tracker = impl.Tracker

	addressableServices.Informer().AddEventHandler(cache.FilteringResourceEventHandler{FilterFunc: isOurs, Handler: controller.HandleAll(impl.Enqueue)})
	addressableServices.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: r.tracker.OnDeletedObserver})

	// The objects that they refer to, the Services with the names of their aliases, and namespaces: the reconciler tracks each.
	addressableServices.Informer().AddEventHandler(controller.HandleAll(controller.EnsureTypeMeta(r.tracker.OnChanged, addressableServiceKind)))
	services.Informer().AddEventHandler(controller.HandleAll(controller.EnsureTypeMeta(r.tracker.OnChanged, serviceKind)))
	namespaces.Informer().AddEventHandler(controller.HandleAll(controller.EnsureTypeMeta(r.tracker.OnChanged, namespaceKind)))
	r.addressables = &duck.CachedInformerFactory{Delegate: &duck.EnqueueInformerFactory{
		Delegate: addressable.Get(ctx), EventHandler: controller.HandleAll(r.tracker.OnChanged),
	}}

	// An alias that its owner does not request, and so does not track. Outside of the directories, any user can create Services that look like aliases.
	if err := services.Informer().AddIndexers(cache.Indexers{aliasesByOwner: indexByOwner}); err != nil {
		logger.Fatalw("Indexing aliases failed", "error", err)
	}
	services.Informer().AddEventHandler(controller.HandleAll(func(obj any) {
		if service, ok := obj.(*corev1.Service); ok && slices.Contains(r.directories(), service.Namespace) {
			if owner, err := cache.ParseObjectName(ownerOf(service)); err == nil && owner.Name != "" && r.watched(owner.Namespace) {
				impl.EnqueueKey(types.NamespacedName(owner))
			}
		}
	}))
	return impl
}
