/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// act does what is to be done next. What it did is in p.pods afterwards.
func (p *pass) act(ctx context.Context) *problem.Problem {
	next := p.decide()
	if len(next.remove)+len(next.create) > 0 && !p.children.WasRead(p.sd) {
		// The process that led before may have deleted and made others, of which our cache need not know yet.
		if failed := p.read(ctx); failed != nil {
			return failed
		}
		next = p.decide()
	}
	p.again = next.again
	left, stay := 0, (*problem.Problem)(nil)
	for _, victim := range next.remove {
		removed, failed := p.remove(ctx, victim)
		switch {
		case removed:
		case victim.class == finished && failed != nil && failed.Err == nil:
			// It runs no more, and is in nobody's way.
			left, stay = left+1, failed
		default:
			// What could not be deleted would make the next Pod one too many.
			return cmp.Or(failed, stay)
		}
	}
	if left > p.replicas {
		// Those that end and cannot be deleted are not to become ever more.
		return stay
	}
	for _, slot := range next.create {
		// What keeps one Pod from being made mostly keeps the others too.
		if made, failed := p.create(ctx, slot); failed != nil || !made {
			return cmp.Or(failed, stay)
		}
	}
	return stay
}

func (p *pass) decide() plan {
	now := p.clock.Now()
	for i := range p.pods {
		if ended := &p.pods[i]; ended.class == finished {
			// It did so before we first saw it, whatever the clock of its node says.
			ended.ended = earlier(ended.ended, now.Add(-p.ended.Lasted(ended.uid)))
		}
	}
	return decide(p.replicas, p.pods, p.taken, now)
}

// remove deletes a Pod in the state that was looked at: one that has become ready since might be needed. One that is gone needs
// no deletion. removed is false if it has changed, or another one has its name; then the plan was made on what is not true any more.
func (p *pass) remove(ctx context.Context, victim pod) (removed bool, failed *problem.Problem) {
	err := p.kube.CoreV1().Pods(p.sd.Namespace).Delete(ctx, victim.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &victim.uid, ResourceVersion: &victim.version},
	})
	switch {
	case apierrors.IsConflict(err):
		// The event of the change is on its way and wakes the object.
		return false, nil
	case err != nil && !apierrors.IsNotFound(err):
		return false, p.failed(v1alpha1.ReasonDeleteFailed, fmt.Errorf("deleting Pod %s: %w", victim.name, err))
	}
	p.children.Deleted(p.sd, victim.uid)
	for i := range p.pods {
		if p.pods[i].uid == victim.uid {
			p.pods[i].class = terminating
		}
	}
	return true, nil
}

// failed is the problem of a request. What the API server refused is said with its words, and tried again after a while, since no
// watch tells of a quota that was raised. Of what it failed at nobody knows whether it was done, so that the next pass reads the Pods
// anew. Without any answer that comes with the queue's back-off.
func (p *pass) failed(reason string, err error) *problem.Problem {
	if !refused(err) {
		p.children.Doubt(p.sd)
	}
	if _, answered := errors.AsType[*apierrors.StatusError](err); !answered {
		return problem.Failed(reason, err)
	}
	return p.unwatched(problem.Newf(reason, "%v", err))
}

// unwatched has a problem looked at again after a while, since no watch tells of its end.
func (p *pass) unwatched(stuck *problem.Problem) *problem.Problem {
	stuck.Recheck = p.troubles.RecheckAfter(p.sd, stuck.Reason)
	return stuck
}

// refused says whether an error is the API server's word that nothing was done.
func refused(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout
}
