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
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

const (
	// FieldManager owns what a Pod is made of.
	FieldManager = "simpledeployment." + samples.GroupName

	// labelManager owns a label that was put back. It is another one since an apply takes away what its manager applied before
	// and now does not: the image of an earlier spec, for one, which nobody remembers.
	labelManager = FieldManager + "/label"

	// absent has an apply create an object or fail. It is a resource version that no stored object has, since etcd's own first
	// revision is empty, and an object that does not exist has none to compare it with. Without it an apply to a name that exists
	// changes what is there: the image of a Pod that the cache does not have yet, or of somebody else's.
	absent = "1"
)

// create makes the Pod of a slot. made is false if there is one of ours already, of which the cache does not know: then the
// plan was made on what is not true any more.
func (p *pass) create(ctx context.Context, slot int) (made bool, failed *problem.Problem) {
	wanted := podFor(p.sd, slot).WithResourceVersion(absent)
	created, err := p.kube.CoreV1().Pods(p.sd.Namespace).Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: FieldManager})
	switch {
	case err == nil:
		p.children.Written(p.sd, created)
		p.pods = append(p.pods, p.podOf(created))
		return true, nil
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return false, p.lookAt(ctx, *wanted.Name, err)
	default:
		return false, p.failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating Pod %s: %w", *wanted.Name, err))
	}
}

// lookAt finds out whose the Pod is that has a name which we wanted to give.
func (p *pass) lookAt(ctx context.Context, name string, conflict error) *problem.Problem {
	live, err := p.kube.CoreV1().Pods(p.sd.Namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		// It went meanwhile.
		return problem.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating Pod %s: %w", name, conflict))
	case err != nil:
		return p.failed(v1alpha1.ReasonReadFailed, fmt.Errorf("reading Pod %s: %w", name, err))
	case !owns(p.sd, live):
		return p.unwatched(problem.Newf(v1alpha1.ReasonNameTaken, "Pod %s exists and is not this object's", name))
	}
	if p.podOf(live).unlabelled {
		var failed *problem.Problem
		if live, failed = p.relabel(ctx, live); failed != nil {
			return failed
		}
		if live == nil {
			return problem.Failed(v1alpha1.ReasonCreateFailed, fmt.Errorf("creating Pod %s: %w", name, conflict))
		}
	}
	p.children.Written(p.sd, live)
	p.pods = append(p.pods, p.podOf(live))
	return nil
}

// relabel puts the label back by which a Pod is found. The result is nil if the Pod is gone.
func (p *pass) relabel(ctx context.Context, unlabelled metav1.Object) (*corev1.Pod, *problem.Problem) {
	label := corev1ac.Pod(unlabelled.GetName(), p.sd.Namespace).WithUID(unlabelled.GetUID()).
		WithLabels(map[string]string{samples.PodOwnerUIDLabelKey: string(p.sd.UID)})
	labelled, err := p.kube.CoreV1().Pods(p.sd.Namespace).Apply(ctx, label, metav1.ApplyOptions{FieldManager: labelManager, Force: true})
	switch {
	case err == nil:
		p.children.Written(p.sd, labelled)
		return labelled, nil
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		// An apply to what does not exist, which says which UID it means, is a conflict.
		return nil, nil
	default:
		return nil, p.failed(v1alpha1.ReasonLabelFailed, fmt.Errorf("labelling Pod %s: %w", unlabelled.GetName(), err))
	}
}
