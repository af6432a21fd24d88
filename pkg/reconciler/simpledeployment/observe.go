/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/mallard-dev/mallard/observe"
	"github.com/mallard-dev/mallard/observe/expectations"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// observe finds the object's Pods, in the cache unless that is in doubt.
func (r *reconciliation) observe(ctx context.Context) *failures.Failure {
	for _, pod := range podsOf(r.Reconciler.pods, r.sd) {
		r.pods = append(r.pods, r.podOf(pod))
	}
	if r.expectations.Doubtful(r.sd) {
		return r.read(ctx)
	}
	return nil
}

// read finds the object's Pods on the API server.
func (r *reconciliation) read(ctx context.Context) *failures.Failure {
	list, err := r.kube.CoreV1().Pods(r.sd.Namespace).List(ctx, metav1.ListOptions{LabelSelector: selectorOf(r.sd)})
	if err != nil {
		return r.failed(v1alpha1.ReasonReadFailed, fmt.Errorf("listing the Pods: %w", err))
	}
	r.pods = nil
	var ours []metav1.Object
	for i := range list.Items {
		if live := &list.Items[i]; owns(r.sd, live) {
			r.pods, ours = append(r.pods, r.podOf(live)), append(ours, live)
		}
	}
	r.expectations.Read(r.sd, ours)
	return nil
}

// selectorOf selects the object's Pods, and whatever else has their label.
func selectorOf(sd *v1alpha1.SimpleDeployment) string {
	return labels.SelectorFromSet(labels.Set{samples.PodOwnerUIDLabelKey: string(sd.UID)}).String()
}

// podsOf are an object's Pods in a cache, by their names: in the order of the index, which is another one each time, two passes on the
// same Pods would end differently, and each status update would enqueue the object again.
func podsOf(cached observe.Lister[*corev1.Pod], owner metav1.Object) []*corev1.Pod {
	pods := cached.ByIndex(podsByOwner, owner.GetNamespace()+"/"+string(owner.GetUID()))
	owned := slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return !owns(owner, pod) })
	slices.SortFunc(owned, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return owned
}

// newExpectations returns a memory of what is written of objects and their Pods, which looks into the cache of Pods.
func newExpectations(cached observe.Lister[*corev1.Pod]) *expectations.Expectations {
	return expectations.New(func(owner metav1.Object) []metav1.Object {
		var objects []metav1.Object
		for _, pod := range podsOf(cached, owner) {
			objects = append(objects, pod)
		}
		return objects
	})
}

func (r *reconciliation) podOf(live *corev1.Pod) pod {
	seen := pod{
		name: live.Name, uid: live.UID, version: live.ResourceVersion, slot: slotOf(r.prefix, live.Name),
		current: live.Labels[samples.PodRevisionLabelKey] == r.revision,
		created: live.CreationTimestamp.Time,
	}
	switch {
	case live.DeletionTimestamp != nil:
		seen.class = terminating
	case live.Status.Phase == corev1.PodFailed || live.Status.Phase == corev1.PodSucceeded:
		seen.class = finished
	default:
		for _, c := range live.Status.Conditions {
			seen.ready = seen.ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}
	}
	return seen
}

// keepWhatIsRead is a cache.TransformFunc. A reconciliation reads a small part of a Pod.
func keepWhatIsRead(obj any) (any, error) {
	full, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	kept := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: full.Namespace, Name: full.Name, UID: full.UID, ResourceVersion: full.ResourceVersion,
			CreationTimestamp: full.CreationTimestamp, DeletionTimestamp: full.DeletionTimestamp,
			OwnerReferences: full.OwnerReferences, Labels: map[string]string{},
		},
		Status: corev1.PodStatus{Phase: full.Status.Phase},
	}
	for _, key := range []string{samples.PodOwnerUIDLabelKey, samples.PodRevisionLabelKey} {
		if value, ok := full.Labels[key]; ok {
			kept.Labels[key] = value
		}
	}
	for _, c := range full.Status.Conditions {
		kept.Status.Conditions = append(kept.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status})
	}
	return kept, nil
}
