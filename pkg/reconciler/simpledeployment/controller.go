/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"

	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	podinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	simpledeploymentinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1alpha1/simpledeployment"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
)

// NewController returns the controller of SimpleDeployments. Of Pods only those with the label are watched, so main passes the selector:
//
//	ctx = filteredfactory.WithSelectors(ctx, samples.PodOwnerUIDLabelKey)
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	simpleDeployments, pods := simpledeploymentinformer.Get(ctx), podinformer.Get(ctx, samples.PodOwnerUIDLabelKey)
	if err := pods.Informer().AddIndexers(cache.Indexers{podsByOwner: ownerOf}); err != nil {
		logging.FromContext(ctx).Fatalw("Indexing Pods by their owner failed", "error", err)
	}

	r := &Reconciler{kube: kubeclient.Get(ctx), pods: pods.Informer().GetIndexer(), clock: clock.RealClock{}, doomed: expiring.NewExpiring()}
	impl := simpledeploymentreconciler.NewImpl(ctx, r)

	simpleDeployments.Informer().AddEventHandler(controller.HandleAll(impl.Enqueue))

	// A Pod that changes, loses its controller or is deleted concerns its controller.
	pods.Informer().AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: controller.FilterController(&v1alpha1.SimpleDeployment{}),
		Handler:    controller.HandleAll(impl.EnqueueControllerOf),
	})
	return impl
}
