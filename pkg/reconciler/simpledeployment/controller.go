/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	kubeclient "knative.dev/pkg/client/injection/kube/client"
	filteredpodinformer "knative.dev/pkg/client/injection/kube/informers/core/v1/pod/filtered"
	"knative.dev/pkg/configmap"
	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	simpledeploymentinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1alpha1/simpledeployment"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/triggers"
)

// NewController connects the reconciler to its informers. The process calls it once, before any informer runs, with PodSelector among
// the selectors of the context.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	simpleDeployments := simpledeploymentinformer.Get(ctx)
	pods := filteredpodinformer.Get(ctx, PodSelector)
	indexer := pods.Informer().GetIndexer()

	r := &Reconciler{
		kube:         kubeclient.Get(ctx),
		clock:        clock.RealClock{},
		pods:         indexer,
		expectations: newExpectations(indexer),
		failures:     failures.New(),
	}
	impl := simpledeploymentreconciler.NewImpl(ctx, r)
	t := triggers.New("SimpleDeployment")
	t.Wire(impl, triggers.Guards{Objects: simpleDeployments.Informer().GetIndexer(), Expectations: r.expectations, Failures: r.failures})

	if err := errors.Join(
		triggers.Setup(simpleDeployments.Informer(), nil, nil, t.Handler("SimpleDeployment", func(e triggers.Event) {
			if e.Cause == triggers.Deleted {
				r.forget(e.Object)
			}
			e.Enqueue()
		})),
		triggers.Setup(pods.Informer(), podIndexers(), keepWhatIsRead, t.Handler("Pod", r.podChanged)),
	); err != nil {
		logger.Fatalw("Failed to set up the informers", "error", err)
	}
	return impl
}

// podChanged enqueues the owner of a Pod, and its former owner, which has one fewer.
func (r *Reconciler) podChanged(e triggers.Event) {
	pod, ok := triggers.ObjectOf[*corev1.Pod](e.Object)
	if !ok {
		return
	}
	if e.Cause == triggers.Deleted {
		// Before the reconciliation that this enqueues.
		r.expectations.Removed(e.Object)
	}
	owner, owned := ownerOf(pod)
	if owned {
		e.EnqueueKey(owner)
	}
	if old, ok := e.Old.(*corev1.Pod); ok {
		if former, ok := ownerOf(old); ok && (!owned || former != owner) {
			e.EnqueueKey(former)
		}
	}
}

// forget drops what is remembered of an object that exists no more.
func (r *Reconciler) forget(obj any) {
	if sd, ok := triggers.ObjectOf[*v1alpha1.SimpleDeployment](obj); ok {
		r.memories.forget(sd.UID)
		r.expectations.Forget(sd.UID)
	}
}
