/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/reconciler/failures"
)

const (
	// firstDelay is the time after which a patch is repeated first. It doubles each time, up to lastDelay.
	firstDelay, lastDelay = time.Second, 30 * time.Second
	// tellAfter is the delay from which on BindFailed reports that a patch is reverted, or that the object is not as the cache has it. Before
	// that, the event of a concurrent change might not have been delivered.
	tellAfter = 4 * time.Second
	// failuresAtOnce is the number of patches of a reconciliation that may fail before the others wait for the next one: hundreds of rejected
	// subjects must not cause as many requests at once.
	failuresAtOnce = 2
)

// subject is an object of a kind, as a reconciliation leaves it.
type subject struct {
	kmeta.Accessor

	// title is its kind and name, for messages.
	title string
	// object is nil if it does not fit the shape of its kind, which malformed then describes, and if it was deleted.
	object    binding.Object
	malformed error

	included, excluded bool
	result             binding.Result
	// patch identifies the change of the object, and last is the previous attempt to make it.
	patch string
	last  attempt
	// problem is the reason for which it could not be changed.
	problem *failures.Failure
}

// attempt is the last request with a patch, zero for one that was not sent before. A repeated patch is sent with increasing delay, because another
// controller may revert it, or the API server reject it. The object cannot show that: its mark may be reverted, too.
type attempt struct {
	at    time.Time
	delay time.Duration
	// failure is why the patch is needed again.
	failure failures.Failure
}

func (r *Reconciler) lastAttempt(key string) attempt {
	last, _ := r.attempts.Get(key)
	known, _ := last.(attempt)
	return known
}

// adjust patches the objects of a kind that differ from what the bindings of the namespace want. It returns those that exist
// afterwards, and what prevented patches.
func (r *Reconciler) adjust(ctx context.Context, ab *v1.AddressBinding, k subjectKind, objects []kmeta.Accessor,
) (subjects []*subject, problems []*failures.Failure) {
	namespace, p := r.namespace(ab)
	if p != nil {
		return nil, []*failures.Failure{p}
	}
	all, _ := r.bindings.AddressBindings(ab.Namespace).List(labels.Everything()) // an index does not fail
	bindings := binding.Of(k.GroupKind, append(slices.DeleteFunc(all, func(b *v1.AddressBinding) bool { return b.Name == ab.Name }), ab))
	var changed []*subject
	for _, object := range objects {
		s := &subject{Accessor: object, title: k.Kind + " " + object.GetName()}
		subjects = append(subjects, s)
		switch object := object.(type) {
		case *unstructured.Unstructured: // it does not fit its duck type
			s.malformed = duck.FromUnstructured(object, k.shape.New())
		case binding.Object:
			s.object = object
			s.excluded = binding.Excluded(namespace.Labels, object.GetLabels())
			s.included = !s.excluded && binding.Included(namespace.Labels, object.GetLabels())
			s.result = bindings.Apply(object, s.included, ab.Name)
			if len(s.result.Changes) > 0 && !binding.Immutable(k.GroupKind) {
				s.patch = fmt.Sprintf("%s/%x", object.GetUID(), sha256.Sum256([]byte(fmt.Sprint(s.result.Changes))))
				s.last = r.lastAttempt(s.patch)
				changed = append(changed, s)
			}
		}
	}
	// Those that were not tried before are first.
	slices.SortStableFunc(changed, func(a, b *subject) int { return cmp.Compare(a.last.delay, b.last.delay) })
	failed := 0
	for _, s := range changed {
		if wait := s.last.delay - r.clock.Since(s.last.at); wait > 0 || failed >= failuresAtOnce {
			// One that was not tried before has no message yet.
			s.problem = &failures.Failure{Reason: cmp.Or(s.last.failure.Reason, reasonOf(ab)), Message: s.last.failure.Message, Recheck: max(wait, firstDelay)}
		} else if s.problem = r.patch(ctx, ab, k, bindings, s); s.problem != nil {
			if failed++; s.problem.Err != nil {
				failed = failuresAtOnce // the others would fail, too
			}
		}
		if s.problem != nil {
			problems = append(problems, s.problem)
		}
	}
	return slices.DeleteFunc(subjects, func(s *subject) bool { return s.object == nil && s.malformed == nil }), problems
}

// reasonOf returns the reason with which a change of a subject fails.
func reasonOf(ab *v1.AddressBinding) string {
	if ab.DeletionTimestamp != nil {
		return v1.ReasonUnbindFailed
	}
	return v1.ReasonBindFailed
}

// patch patches a subject and remembers the attempt. A failure with the reason of the one before gets its message, since each update of the status
// enqueues the binding.
func (r *Reconciler) patch(ctx context.Context, ab *v1.AddressBinding, k subjectKind, bindings *binding.Bindings, s *subject) *failures.Failure {
	p := r.send(ctx, ab, k, bindings, s)
	now := attempt{at: r.clock.Now(), delay: min(max(2*s.last.delay, firstDelay), lastDelay)}
	switch {
	case p != nil:
		if p.Recheck = now.delay; p.Reason == s.last.failure.Reason {
			p.Message = s.last.failure.Message
		}
		now.failure = *p
	case now.delay < tellAfter:
		now.failure = *concurrent(s)
	default:
		now.failure = *failures.Newf(reasonOf(ab), "%s: the variable was reverted right after it was set; another controller may own this object. "+
			"Retrying with back-off", s.title)
	}
	r.attempts.Set(s.patch, now, 2*lastDelay)
	return p
}

func concurrent(s *subject) *failures.Failure {
	return failures.Newf(v1.ReasonBinding, "%s was changed concurrently; retrying", s.title)
}

// send leaves the object in s as the API server stored it, or nil if it is deleted.
func (r *Reconciler) send(ctx context.Context, ab *v1.AddressBinding, k subjectKind, bindings *binding.Bindings, s *subject) *failures.Failure {
	var answer *unstructured.Unstructured
	patched := k.shape.New()
	patch, err := s.result.Patch().MarshalJSON()
	if err == nil {
		answer, err = r.dynamic.Resource(k.resource).Namespace(s.GetNamespace()).Patch(ctx, s.GetName(), types.JSONPatchType, patch,
			metav1.PatchOptions{FieldManager: binding.FieldManager})
	}
	if err == nil {
		err = duck.FromUnstructured(answer, patched)
	}
	switch {
	case apierrors.IsNotFound(err):
		s.object = nil
		return nil
	case isConcurrent(err) && s.last.delay < tellAfter/2:
		return concurrent(s)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot patch resource "):
		// Admission rejects single objects with the same code. These are the words of k8s.io/apiserver for a missing permission.
		return failures.Newf(v1.ReasonSubjectForbidden, "patching %s: %v", s.title, err)
	case failures.StatusCode(err) != 0:
		return failures.Newf(reasonOf(ab), "patching %s: %v", s.title, err)
	case err != nil:
		return failures.Failed(reasonOf(ab), fmt.Errorf("patching %s: %w", s.title, err))
	}
	s.object = patched
	if s.result = bindings.Apply(patched, s.included, ab.Name); len(s.result.Changes) > 0 {
		return failures.Newf(reasonOf(ab), "%s: the API server accepted the patch but did not store the variable: "+
			"an admission webhook removed it, or the CRD's schema prunes it", s.title)
	}
	return nil
}

// isConcurrent reports whether a test of a patch has failed: the API server answers 422 (Invalid), and names no field.
func isConcurrent(err error) bool {
	if !apierrors.IsInvalid(err) {
		return apierrors.IsConflict(err)
	}
	status, ok := err.(apierrors.APIStatus) //nolint:errorlint // it is the client's
	return ok && (status.Status().Details == nil || len(status.Status().Details.Causes) == 0)
}
