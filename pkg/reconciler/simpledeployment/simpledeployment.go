/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	expiring "k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	simpledeploymentreconciler "github.com/mallard-dev/mallard/pkg/client/injection/reconciler/samples/v1alpha1/simpledeployment"
	"github.com/mallard-dev/mallard/pkg/failures"
)

// EventRecovered is the reason of the Normal event that reports the end of a failure: UpToDate is no longer False. Creation and deletion of
// Pods emit no events, because the Pods have their own.
const EventRecovered = "Recovered"

// mostTaken is the number of names of other Pods that a reconciliation tries.
const mostTaken = 50

var reported = []failures.Reported{
	{Condition: v1alpha1.SimpleDeploymentConditionUpToDate, Reason: EventRecovered, Message: "No longer blocked; reconciling Pods", Passing: true},
}

// Reconciler implements the generated reconciler's Interface. It needs no finalizer: the garbage collector deletes what an object controls.
type Reconciler struct {
	kube kubernetes.Interface
	// pods is the cache of the Pods with our label, with the index podsByOwner.
	pods  cache.Indexer
	clock clock.PassiveClock
	// doomed has the UIDs of objects whose namespace is being deleted, so that nothing can be created in it. Their Pods, which are deleted with it, would
	// otherwise each cause a request.
	doomed *expiring.Expiring
}

var _ simpledeploymentreconciler.Interface = (*Reconciler)(nil)

// reconciliation is one call of ReconcileKind.
type reconciliation struct {
	*Reconciler

	sd       *v1alpha1.SimpleDeployment
	replicas int
	// pods are the object's, as they are known to be at that moment of the reconciliation.
	pods []*pod
}

// ReconcileKind implements the generated Interface.
func (r *Reconciler) ReconcileKind(ctx context.Context, sd *v1alpha1.SimpleDeployment) reconciler.Event {
	end := failures.Begin(sd, reported)
	rec := &reconciliation{Reconciler: r, sd: sd, replicas: int(sd.Spec.Replicas)}
	rec.observe()
	next := decide(rec.replicas, rec.pods, r.clock.Now())
	failed := rec.act(ctx, next)
	rec.report(failed)
	return end(ctx, failed, &failures.Failure{Recheck: next.again})
}

// observe finds the object's Pods in the cache. It sorts them, so that two reconciliations of the same Pods end equally.
func (r *reconciliation) observe() {
	cached, _ := r.Reconciler.pods.ByIndex(podsByOwner, r.sd.Namespace+"/"+string(r.sd.UID)) // The index exists.
	for _, obj := range cached {
		if live := obj.(*corev1.Pod); owns(r.sd, live) { //nolint:forcetypeassert // the cache holds nothing else
			r.pods = append(r.pods, r.podOf(live))
		}
	}
	slices.SortFunc(r.pods, func(a, b *pod) int { return strings.Compare(a.name, b.name) })
}

// act executes the plan, and records it in r.pods.
func (r *reconciliation) act(ctx context.Context, next plan) *failures.Failure {
	left, stays := 0, (*failures.Failure)(nil)
	for _, victim := range next.remove {
		failed := r.remove(ctx, victim)
		switch {
		case failed == nil:
			victim.class = terminating
		case victim.class == finished && failures.StatusCode(failed.Err)/100 == 4 && !apierrors.IsConflict(failed.Err):
			// The API server rejects it. It no longer runs, and another Pod may have its place.
			left, stays = left+1, cmp.Or(stays, failed)
		default:
			// A Pod that could not be deleted would make the next one a Pod too many.
			return failed
		}
	}
	if left > r.replicas {
		// The number of terminated Pods that cannot be deleted must not grow.
		return stays
	}
	if _, found := r.doomed.Get(r.sd.UID); found {
		return stays
	}
	taken := map[string]bool{}
	for range min(next.missing, next.room+left) {
		// The reason why one Pod cannot be created usually applies to the others.
		if made, failed := r.create(ctx, taken); failed != nil || !made {
			return cmp.Or(failed, stays)
		}
	}
	return stays
}

// remove deletes a Pod in the state that was observed: a Pod that has become ready since might be needed. A Pod that no longer
// exists needs no deletion. A conflict means that the plan is outdated.
func (r *reconciliation) remove(ctx context.Context, victim *pod) *failures.Failure {
	err := r.kube.CoreV1().Pods(r.sd.Namespace).Delete(ctx, victim.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &victim.uid, ResourceVersion: &victim.version},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return failures.Failed(v1alpha1.ReasonDeleteFailed, fmt.Errorf("deleting Pod %s: %w", victim.name, err))
	}
	return nil
}

// create creates a Pod with the first name that is free; taken are names of Pods that are not the object's. made is false if the plan is
// outdated: the object has a Pod that the cache lacks, whose event enqueues it, or its namespace is being deleted.
func (r *reconciliation) create(ctx context.Context, taken map[string]bool) (made bool, failed *failures.Failure) {
	pods := r.kube.CoreV1().Pods(r.sd.Namespace)
	for range mostTaken {
		name := freeName(r.sd, r.pods, taken)
		created, err := pods.Create(ctx, podFor(r.sd, name), metav1.CreateOptions{})
		switch {
		case err == nil:
			r.pods = append(r.pods, r.podOf(created))
			return true, nil
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			r.doomed.Set(r.sd.UID, nil, time.Hour)
			return false, nil
		case !apierrors.IsAlreadyExists(err):
			return false, failures.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating Pod %s: %w", name, err))
		}
		live, err := pods.Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil && owns(r.sd, live):
			r.pods = append(r.pods, r.podOf(live))
			return false, nil
		case err == nil:
			taken[name] = true
		case !apierrors.IsNotFound(err): // otherwise the name is free by now
			return false, failures.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("reading Pod %s: %w", name, err))
		}
	}
	return false, failures.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating a Pod: other Pods have the first %d names", mostTaken))
}

// report writes to the status how far the object is.
func (r *reconciliation) report(failed *failures.Failure) {
	c, s := count(r.pods), &r.sd.Status
	s.Replicas, s.UpdatedReplicas, s.ReadyReplicas = int32(c.active), int32(c.current), int32(c.ready) //nolint:gosec // Pods of one object
	s.Selector = samples.PodOwnerUIDLabelKey + "=" + string(r.sd.UID)

	ready := fmt.Sprintf("%d of %d Pods are ready", c.ready, r.replicas)
	if c.ready >= r.replicas {
		s.MarkAvailable()
	} else {
		s.MarkNotAvailable(v1alpha1.ReasonWaitingForPods, ready)
	}
	switch {
	case failed.Marked():
		s.MarkStuck(failed.Reason, failed.Message)
	case c.active > c.current:
		s.MarkProgressing(v1alpha1.ReasonRollingOut,
			fmt.Sprintf("%d of %d Pods are updated, %d outdated remain", c.current, r.replicas, c.active-c.current))
	case c.current > r.replicas:
		s.MarkProgressing(v1alpha1.ReasonScalingDown, fmt.Sprintf("%d Pods exist, want %d", c.current, r.replicas))
	case c.current < r.replicas || c.ready < r.replicas:
		s.MarkProgressing(v1alpha1.ReasonWaitingForPods, ready)
	default:
		s.MarkUpToDate()
	}
}
