/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// Reconciler implements the generated reconciler's Interface. Its fields are set by NewController and not changed
// afterwards. It needs no finalizer: the garbage collector deletes what an object controls.
type Reconciler struct {
	kube  kubernetes.Interface
	clock clock.PassiveClock

	// pods is the cache of the Pods that SimpleDeployments control, with the index podsByOwner.
	pods observe.Lister[*corev1.Pod]

	// expectations knows which of our writes the caches have.
	expectations *expectations.Expectations
	failures     *failures.Failures
	memories     memories
}

var _ simpledeploymentreconciler.Interface = (*Reconciler)(nil)

func newReconciler(kube kubernetes.Interface, clock clock.PassiveClock, pods observe.Lister[*corev1.Pod]) *Reconciler {
	return &Reconciler{kube: kube, clock: clock, pods: pods, expectations: newExpectations(pods), failures: failures.New()}
}

// reconciliation is one call of ReconcileKind for one object.
type reconciliation struct {
	*Reconciler

	sd               *v1alpha1.SimpleDeployment
	memory           *memory
	prefix, revision string
	replicas         int

	// pods are the object's, as they are known to be at that moment of the reconciliation.
	pods []pod
	// again is after how long to look again though nothing may have happened; 0 for never.
	again time.Duration
}

// ReconcileKind implements the generated Interface. It is called with a copy of an object that is not being deleted, when the
// cache of Pods has what was written of them before; what it does to the status is written afterwards, in one request and
// only if something changed.
func (r *Reconciler) ReconcileKind(ctx context.Context, sd *v1alpha1.SimpleDeployment) reconciler.Event {
	memory := r.memories.of(sd.UID)
	if memory.deleted {
		// The object is deleted with its namespace.
		return nil
	}
	recordEvents := failures.BeginEvents(sd, reported)

	rec := &reconciliation{Reconciler: r, sd: sd, memory: memory, prefix: prefixOf(sd), revision: revisionOf(sd), replicas: replicasOf(sd)}
	stuck := rec.observe(ctx)
	if stuck == nil {
		stuck = rec.act(ctx)
	}
	rec.report(stuck)

	recordEvents(ctx)

	return r.failures.Outcome(sd, stuck, &failures.Failure{Recheck: rec.again})
}

// replicasOf is within the bounds that the schema has, whatever an API server without it let in.
func replicasOf(sd *v1alpha1.SimpleDeployment) int {
	return int(min(max(sd.Spec.Replicas, 0), v1alpha1.SimpleDeploymentMaxReplicas))
}
