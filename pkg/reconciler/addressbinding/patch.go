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
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/observe/ducks"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/runtime/failures"
)

// failuresAtOnce is the number of patches of a reconciliation that may fail before the others wait for the next one: hundreds of rejected subjects
// must not cause as many requests at once.
const failuresAtOnce = 2

// tellAfter is the back-off of a patch from which on BindFailed reports that it is reverted, or that the object is not as the cache has it.
// Before that, the event of a concurrent change might not have been delivered.
const tellAfter = 4 * time.Second

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
	// patch identifies the change of the object, and last is the time of the previous attempt.
	patch string
	last  attempt
	// problem is the reason for which it could not be changed.
	problem *failures.Failure
}

// adjust patches the objects of a kind that differ from what the bindings of the namespace want. It returns those that exist
// afterwards, and what prevented patches.
func (r *Reconciler) adjust(ctx context.Context, ab *v1.AddressBinding, k subjectKind, objects []kmeta.Accessor) ([]*subject, []*failures.Failure) {
	bindings := binding.Of(k.GroupKind, r.all(ab))
	var namespace map[string]string
	if found, err := r.namespaces.Get(ab.Namespace); err == nil {
		namespace = found.Labels
	}
	var subjects, changed []*subject
	for _, object := range objects {
		s := &subject{Accessor: object, title: k.Kind + " " + object.GetName()}
		subjects = append(subjects, s)
		switch object := object.(type) {
		case *ducks.Malformed:
			s.malformed = object.Err
		case binding.Object:
			s.object = object
			s.excluded = binding.Excluded(namespace, object.GetLabels())
			s.included = !s.excluded && binding.Included(namespace, object.GetLabels())
			s.result = bindings.Apply(object, s.included, ab.Name)
			if len(s.result.Changes) > 0 && !binding.Immutable(k.GroupKind) {
				s.patch = fmt.Sprintf("%s/%x", object.GetUID(), sha256.Sum256([]byte(fmt.Sprint(s.result.Changes))))
				s.last = r.attempts.of(s.patch)
				changed = append(changed, s)
			}
		}
	}
	problems := r.patchAll(ctx, ab, k, bindings, changed)
	return slices.DeleteFunc(subjects, func(s *subject) bool { return s.object == nil && s.malformed == nil }), problems
}

// patchAll patches subjects whose turn it is, and returns the problems of those that were not patched.
func (r *Reconciler) patchAll(ctx context.Context, ab *v1.AddressBinding, k subjectKind, bindings *binding.Bindings, changed []*subject,
) (problems []*failures.Failure) {
	// Those that were not tried before are first.
	slices.SortStableFunc(changed, func(a, b *subject) int { return cmp.Compare(a.last.delay, b.last.delay) })
	failed := 0
	for _, s := range changed {
		wait := r.attempts.wait(s.last)
		if failed >= failuresAtOnce {
			wait = max(wait, failures.FirstRecheck)
		}
		if wait > 0 {
			s.problem = postponed(ab, s, wait)
		} else if s.problem = r.patch(ctx, ab, k, bindings, s); s.problem != nil {
			failed++
		}
		if s.problem != nil {
			problems = append(problems, s.problem)
			if s.problem.Err != nil {
				// The others would fail, too.
				failed = failuresAtOnce
			}
		}
	}
	return problems
}

// all returns the bindings of the namespace, with ab in place of its cached state.
func (r *Reconciler) all(ab *v1.AddressBinding) []*v1.AddressBinding {
	cached, err := r.bindings.AddressBindings(ab.Namespace).List(labels.Everything())
	if err != nil {
		// A cache that has the index of namespaces cannot fail.
		panic(err)
	}
	return append(slices.DeleteFunc(cached, func(b *v1.AddressBinding) bool { return b.Name == ab.Name }), ab)
}

// failure is the reason with which a change of a subject fails.
func failure(ab *v1.AddressBinding) string {
	if ab.DeletionTimestamp != nil {
		return v1.ReasonUnbindFailed
	}
	return v1.ReasonBindFailed
}

// postponed returns the problem of a subject that has to wait, because the patch was made a moment ago or others fail.
func postponed(ab *v1.AddressBinding, s *subject, wait time.Duration) *failures.Failure {
	// Subjects that were not tried before have no message yet.
	p := &failures.Failure{Reason: failure(ab)}
	if s.last.failure != nil {
		p = new(*s.last.failure)
	} else if s.last.delay > 0 {
		p = contested(ab, s)
	}
	p.Recheck = wait
	return p
}

// contested returns the problem of a subject that does not stay as a patch left it, or is not as the cache has it.
func contested(ab *v1.AddressBinding, s *subject) *failures.Failure {
	if s.last.delay < tellAfter {
		return failures.Newf(v1.ReasonBinding, "%s was changed concurrently; retrying", s.title)
	}
	return failures.Newf(failure(ab), "%s: the variable was reverted right after it was set; another controller may own this object. "+
		"Retrying with back-off", s.title)
}

// patch patches a subject and remembers the attempt.
func (r *Reconciler) patch(ctx context.Context, ab *v1.AddressBinding, k subjectKind, bindings *binding.Bindings, s *subject) *failures.Failure {
	p := r.send(ctx, ab, k, s)
	if p == nil && s.object != nil {
		if s.result = bindings.Apply(s.object, s.included, ab.Name); len(s.result.Changes) > 0 {
			p = failures.Newf(failure(ab), "%s: the API server accepted the patch but did not store the variable: "+
				"an admission webhook removed it, or the CRD's schema prunes it", s.title)
		}
	}
	r.attempts.made(s.patch, p)
	return p
}

// send leaves the object in s as the API server stored it, or nil if it is deleted.
func (r *Reconciler) send(ctx context.Context, ab *v1.AddressBinding, k subjectKind, s *subject) *failures.Failure {
	patch, err := s.result.Patch().MarshalJSON()
	if err != nil {
		return failures.Failed(failure(ab), fmt.Errorf("encoding the patch of %s: %w", s.title, err))
	}
	answer, err := r.dynamic.Resource(k.Resource).Namespace(s.GetNamespace()).Patch(ctx, s.GetName(),
		types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: binding.FieldManager})
	_, hasStatus := err.(apierrors.APIStatus)
	switch {
	case apierrors.IsNotFound(err):
		s.object = nil
		return nil
	case err == nil:
	case isConcurrent(err) && s.last.delay < tellAfter/2:
		return contested(ab, s)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), " cannot patch resource "):
		// Admission rejects single objects with the same code. These are the words of k8s.io/apiserver for a missing permission.
		return failures.Newf(v1.ReasonSubjectForbidden, "patching %s: %v", s.title, err)
	case hasStatus:
		return failures.Newf(failure(ab), "patching %s: %v", s.title, err)
	default:
		return failures.Failed(failure(ab), fmt.Errorf("patching %s: %w", s.title, err))
	}
	patched := binding.ShapeOf(k.GroupKind, k.Labels).New()
	if err := duck.FromUnstructured(answer, patched); err != nil {
		return failures.Newf(failure(ab), "reading %s after it was patched: %v", s.title, err)
	}
	s.object = patched
	r.expectations.Record(patched)
	return nil
}

// isConcurrent reports whether a test of a patch has failed: the API server answers 422 (Invalid), and names no field.
func isConcurrent(err error) bool {
	if apierrors.IsConflict(err) {
		return true
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok || !apierrors.IsInvalid(err) {
		return false
	}
	details := status.Status().Details
	return details == nil || len(details.Causes) == 0
}
