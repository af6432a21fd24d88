/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

const (
	// FieldManager owns the fields that a Pod is created with.
	FieldManager = "simpledeployment." + samples.GroupName

	// absent has an apply create an object or fail. It is a resource version that no stored object has, since etcd's own first
	// revision is empty, and an object that does not exist has none to compare it with. Without it, an apply to an existing name changes that Pod:
	// the image of one that the cache does not have yet, or of a foreign one.
	absent = "1"
)

// mostTaken is the number of names of other Pods that a reconciliation tries. The memory has them afterwards, so that the next one continues from there.
const mostTaken = 50

// create creates a Pod with the first name that is free. made is false if the object has a Pod that the cache does not have
// yet: then the plan is outdated.
func (r *reconciliation) create(ctx context.Context) (made bool, failed *failures.Failure) {
	var err error
	for range mostTaken {
		slot := freeSlot(r.pods, r.memory.taken)
		wanted := podFor(r.sd, slot).WithResourceVersion(absent)
		var created *corev1.Pod
		created, err = r.kube.CoreV1().Pods(r.sd.Namespace).Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: FieldManager})
		switch {
		case err == nil:
			r.expectations.Written(r.sd, created)
			r.pods = append(r.pods, r.podOf(created))
			return true, nil
		case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
			r.memory.deleted = true
			return false, nil
		case !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err):
			return false, r.failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating Pod %s: %w", *wanted.Name, err))
		}
		live, unread := r.kube.CoreV1().Pods(r.sd.Namespace).Get(ctx, *wanted.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(unread):
			// It was deleted in between, or the conflict is about something else, such as the quota.
			return false, failures.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating Pod %s: %w", *wanted.Name, err))
		case unread != nil:
			return false, r.failed(v1alpha1.ReasonReadFailed, fmt.Errorf("reading Pod %s: %w", *wanted.Name, unread))
		case owns(r.sd, live):
			r.expectations.Written(r.sd, live)
			r.pods = append(r.pods, r.podOf(live))
			return false, nil
		}
		r.memory.taken[slot] = true
	}
	return false, failures.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating a Pod: %w", err))
}
