/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// act executes the next steps of the plan, and records them in p.pods.
func (r *reconciliation) act(ctx context.Context) *failures.Failure {
	next := r.decide()
	if len(next.remove)+next.create > 0 && !r.expectations.WasRead(r.sd) {
		// The process that led before may have deleted and made others, of which our cache need not know yet.
		if failed := r.read(ctx); failed != nil {
			return failed
		}
		next = r.decide()
	}
	r.again = next.again
	left, stay := 0, (*failures.Failure)(nil)
	for _, victim := range next.remove {
		if stay != nil && victim.class == finished {
			left++
			continue
		}
		removed, failed := r.remove(ctx, victim)
		switch {
		case removed:
		case victim.class == finished && failures.StatusCode(failed.Err) != 0:
			// It no longer runs, and its name is not needed.
			left, stay = left+1, failed
			r.memory.reject(victim)
		default:
			// A Pod that could not be deleted would make the next one a Pod too many.
			return failed
		}
	}
	if left > r.replicas {
		// The number of terminated Pods that cannot be deleted must not grow.
		return stay
	}
	for range next.create {
		// The reason why one Pod cannot be created usually applies to the others.
		if made, failed := r.create(ctx); failed != nil || !made {
			return cmp.Or(failed, stay)
		}
	}
	return stay
}

func (r *reconciliation) decide() plan {
	now := r.clock.Now()
	r.memory.see(r.pods, now)
	return decide(r.replicas, r.pods, now)
}

// remove deletes a Pod in the state that was observed: a Pod that has become ready since might be needed. A Pod that no longer
// exists needs no deletion. removed is false if the request failed; a conflict means that the plan is outdated.
func (r *reconciliation) remove(ctx context.Context, victim pod) (removed bool, failed *failures.Failure) {
	err := r.kube.CoreV1().Pods(r.sd.Namespace).Delete(ctx, victim.name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &victim.uid, ResourceVersion: &victim.version},
	})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, r.failed(v1alpha1.ReasonDeleteFailed, fmt.Errorf("deleting Pod %s: %w", victim.name, err))
	}
	r.expectations.Deleted(r.sd, victim.uid)
	for i := range r.pods {
		if r.pods[i].uid == victim.uid {
			r.pods[i].class = terminating
		}
	}
	return true, nil
}

// failed returns the failure of a request. Unless the API server rejected it, the request may have been carried out, so the next
// reconciliation reads the Pods from the API server.
func (r *reconciliation) failed(reason string, err error) *failures.Failure {
	if !rejected(err) {
		r.expectations.Doubt(r.sd)
	}
	return failures.Failed(reason, err)
}

// rejected reports whether the API server has answered that nothing was done.
func rejected(err error) bool {
	code := failures.StatusCode(err)
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusRequestTimeout
}
