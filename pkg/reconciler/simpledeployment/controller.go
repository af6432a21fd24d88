/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/utils/clock"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	simpledeploymentinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1alpha1/simpledeployment"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
)

// The sources of the reconciler. Of Pods only those with the label are watched.
var (
	simpleDeployments = observe.Injected[*v1alpha1.SimpleDeployment](simpledeploymentinformer.Get, observe.Transform(observe.DropManagedFields))
	pods              = observe.Selected[*corev1.Pod](kubeclient.Get, coreinformers.NewFilteredPodInformer, observe.Labels(samples.PodOwnerUIDLabelKey),
		observe.Index(podsByOwner, ownerOf), observe.Transform(keepWhatIsRead))
)

// NewController wires the reconciler with its sources. The process calls it once, before any informer runs.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	r := newReconciler(kubeclient.Get(ctx), clock.RealClock{}, pods.Lister(ctx))
	impl := simpledeploymentreconciler.NewImpl(ctx, r)
	if err := observe.NewTriggers("SimpleDeployment").Wire(ctx, impl, observe.Guards{Expectations: r.expectations, Failures: r.failures},
		observe.For(simpleDeployments),
		observe.When(simpleDeployments, func(e observe.Event[*v1alpha1.SimpleDeployment]) []types.NamespacedName {
			if e.Type == observe.Deleted {
				r.memories.forget(e.Object.UID)
			}
			return nil
		}),
		observe.Owns(pods, &v1alpha1.SimpleDeployment{}),
	); err != nil {
		logging.FromContext(ctx).Fatalw("Wiring the reconciler failed", "error", err)
	}
	return impl
}
