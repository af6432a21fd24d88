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
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/client/clientset/versioned"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	simpledeploymentinformer "github.com/mallard-dev/mallard/pkg/client/injection/informers/samples/v1alpha1/simpledeployment"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
	"github.com/mallard-dev/mallard/runtime/expectations"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/informers"
	"github.com/mallard-dev/mallard/runtime/telemetry"
)

// NewController wires the reconciler to its informers. sharedmain calls it once, before any informer runs, with PodSelector among
// the selectors of the context.
func NewController(ctx context.Context, _ configmap.Watcher) *controller.Impl {
	logger := logging.FromContext(ctx)

	simpleDeployments := simpledeploymentinformer.Get(ctx)
	pods := filteredpodinformer.Get(ctx, PodSelector)
	indexer := pods.Informer().GetIndexer()

	children := newChildren(indexer)
	r := &Reconciler{
		kube:     kubeclient.Get(ctx),
		clock:    clock.RealClock{},
		pods:     indexer,
		children: children,
		failures: failures.NewFailures(),
	}

	recording := expectations.WithRecordedWrites(ctx, children, client.Key{}, versioned.NewForConfig)
	impl := simpledeploymentreconciler.NewImpl(recording, r, func(*controller.Impl) controller.Options {
		return controller.Options{PromoteFunc: func(reconciler.Bucket) { children.Promoted() }}
	})
	impl.Reconciler = expectations.Guard(r.failures.Guard(impl.Reconciler, impl.EnqueueKey), simpleDeployments.Informer().GetIndexer(), children)
	wakes := telemetry.Instrument(ctx, impl, "SimpleDeployment")

	if err := errors.Join(
		informers.Setup(simpleDeployments.Informer(), nil, nil, wakes.On("SimpleDeployment", func(e telemetry.Event) {
			if e.Cause.What == telemetry.Deleted {
				r.forget(e.Object)
			}
			e.Enqueue()
		})),
		informers.Setup(pods.Informer(), podIndexers(), keepWhatIsRead, wakes.On("Pod", r.podChanged)),
	); err != nil {
		logger.Fatalw("Setting up the informers failed", "error", err)
	}
	return impl
}

// podChanged wakes the object that a Pod belongs to, and that which it belonged to before: it has one fewer.
func (r *Reconciler) podChanged(e telemetry.Event) {
	pod, ok := informers.ObjectOf[*corev1.Pod](e.Object)
	if !ok {
		return
	}
	if e.Cause.What == telemetry.Deleted {
		// Before the reconciliation that this enqueues.
		r.children.Removed(e.Object)
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
	if sd, ok := informers.ObjectOf[*v1alpha1.SimpleDeployment](obj); ok {
		r.memories.forget(sd.UID)
	}
}
