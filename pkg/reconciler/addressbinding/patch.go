/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"cmp"
	"context"
	"errors"
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

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/failures"
)

const (
	// firstDelay is the time after which a patch is repeated first. It doubles each time, up to lastDelay.
	firstDelay, lastDelay = time.Second, 30 * time.Second
	// reportAfter is the delay from which on BindFailed reports that a patch is reverted. That the object is not as the cache has it is reported from
	// lastDelay on: before that, an object might change all the time, as during a rollout.
	reportAfter = 4 * time.Second
	// failuresAtOnce is the number of patches of a reconciliation that may fail before the others wait for the next one: hundreds of rejected
	// subjects must not cause as many requests at once.
	failuresAtOnce = 2
)

// subject is an object of a kind, as a reconciliation leaves it.
type subject struct {
	kmeta.Accessor

	// title is its kind and name, for messages.
	title string
	// object is nil if it was deleted, or does not fit the shape of its kind.
	object             binding.Object
	included, excluded bool
	result             binding.Result
	// patch identifies the change of the object, last is the previous attempt to make it, and problem is why it is not made.
	patch   string
	last    attempt
	problem *failures.Failure
}

// attempt is the last request with a patch, zero for one that was not sent before. A repeated patch is sent with increasing delay, because another
// controller may revert it, or the API server reject it. The object cannot show that: its mark may be reverted, too.
type attempt struct {
	at    time.Time
	delay time.Duration
	// failure is the reason for the next patch.
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
			s.problem = failures.Newf(v1.ReasonSubjectNotPodSpecable, "%s: %v", s.title, duck.FromUnstructured(object, k.shape.New()))
		case binding.Object:
			s.object = object
			s.excluded = binding.Excluded(namespace.Labels, object.GetLabels())
			s.included = !s.excluded && binding.Included(namespace.Labels, object.GetLabels())
			s.result = bindings.Apply(object, s.included, ab.Name)
			if len(s.result.Changes) > 0 && !binding.Immutable(k.GroupKind) {
				s.patch = fmt.Sprintf("%s/%s", object.GetUID(), samples.Hash(fmt.Sprint(s.result.Changes), 64))
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
			if s.problem.Reason != v1.ReasonBinding { // a concurrent change concerns one object
				failed++
			}
			if s.problem.Err != nil {
				failed = failuresAtOnce // the others would fail, too
			}
		}
		if s.problem != nil {
			problems = append(problems, s.problem)
		}
	}
	return slices.DeleteFunc(subjects, func(s *subject) bool { return s.object == nil && s.problem == nil }), problems
}

// reasonOf returns the reason with which a change of a subject fails.
func reasonOf(ab *v1.AddressBinding) string {
	if ab.DeletionTimestamp != nil {
		return v1.ReasonUnbindFailed
	}
	return v1.ReasonBindFailed
}

// patch patches a subject, and leaves it in s as the API server stored it. It remembers the attempt. A failure with the reason of the one before gets
// its message, since each update of the status enqueues the binding.
func (r *Reconciler) patch(ctx context.Context, ab *v1.AddressBinding, k subjectKind, bindings *binding.Bindings, s *subject) (p *failures.Failure) {
	concurrently := failures.Newf(v1.ReasonBinding, "%s was changed concurrently; retrying", s.title)
	defer func() {
		now := attempt{at: r.clock.Now(), delay: min(max(2*s.last.delay, firstDelay), lastDelay), failure: *concurrently}
		if p != nil {
			if p.Recheck = now.delay; p.Reason == s.last.failure.Reason {
				p.Message = s.last.failure.Message
			}
			now.failure = *p
		} else if now.delay >= reportAfter {
			now.failure = *failures.Newf(reasonOf(ab), "%s: the variable was reverted right after it was set; another controller may own this object. "+
				"Retrying with back-off", s.title)
		}
		r.attempts.Set(s.patch, now, 2*lastDelay)
	}()
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
	case hasChanged(err) && s.last.delay < lastDelay:
		return concurrently
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

// hasChanged reports whether a test of the patch failed. The API server names a cause for each field that it rejects, and none for that.
func hasChanged(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && apierrors.IsInvalid(err) && (status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0)
}

// precedence is the order in which reasons of SubjectsBound are reported: the condition has the first one that applies.
var precedence = []string{
	v1.ReasonSubjectForbidden, v1.ReasonSubjectUnavailable, v1.ReasonBindFailed, v1.ReasonUnbindFailed, v1.ReasonSubjectNotPodSpecable,
	v1.ReasonExcluded, v1.ReasonNotIncluded, v1.ReasonControlled, v1.ReasonVariableTaken, v1.ReasonSubjectImmutable, v1.ReasonBinding,
}

// report counts the subjects and marks SubjectsBound. problems are those with objects of other kinds.
func report(ab *v1.AddressBinding, k subjectKind, subjects []*subject, problems []*failures.Failure) {
	s, chosen := &ab.Status, binding.ChosenBy(&ab.Spec.Subject)
	s.Subjects = &v1.SubjectCount{}
	for _, subject := range subjects {
		switch isChosen := chosen(subject); {
		case isChosen && unbound(ab, k, subject) == nil && s.Value != "":
			s.Subjects.Bound++
			fallthrough
		case isChosen:
			s.Subjects.Matched++
			problems = append(problems, unbound(ab, k, subject))
		case subject.object != nil:
			problems = append(problems, subject.problem)
		}
	}
	switch p := worst(problems); {
	case p != nil && p.Reason != v1.ReasonBinding:
		s.MarkSubjectsNotBound(p.Reason, p.Message)
	case s.Subjects.Matched == 0 && ab.Spec.Subject.Name != "":
		s.MarkSubjectsNotBound(v1.ReasonSubjectNotFound, fmt.Sprintf("%s %s does not exist", k.GroupKind, ab.Spec.Subject.Name))
	case s.Subjects.Matched == 0:
		s.MarkBinding(v1.ReasonNoSubjects, fmt.Sprintf("the selector matches no %s", k.GroupKind))
	case s.Value == "":
		s.MarkBinding(v1.ReasonNothingToBind, "there is no address of AddressableService "+ab.Spec.Address.Name+" to bind")
	case p != nil:
		s.MarkBinding(v1.ReasonBinding, p.Message)
	default:
		s.MarkSubjectsBound()
	}
}

// unbound returns the reason for which a subject does not have the address, nil if it does or if no address exists.
func unbound(ab *v1.AddressBinding, k subjectKind, s *subject) *failures.Failure {
	if s.problem != nil {
		return s.problem
	}
	environments := binding.Environments(s.object)
	hasAddress := !slices.ContainsFunc(environments, func(e binding.Environment) bool { return !e.Has(ab.Spec.Variable, ab.Status.Value) })
	for _, c := range []struct {
		applies         bool
		reason, message string
	}{
		{len(environments) == 0, v1.ReasonSubjectNotPodSpecable, " has no containers at spec.template"},
		{ab.Status.Value == "", "", ""},
		{s.excluded, v1.ReasonExcluded, ": it or its namespace has the label " + duck.BindingExcludeLabel + "=true"},
		{!s.included, v1.ReasonNotIncluded, ": neither it nor its namespace has the label " + duck.BindingIncludeLabel + "=true"},
		{!hasAddress && binding.Controlled(s.object), v1.ReasonControlled, " is controlled by another object, which would revert the change; bind that object"},
		{s.result.Taken != "", v1.ReasonVariableTaken, ": " + s.result.Taken},
		{hasAddress, "", ""},
		{
			binding.Immutable(k.GroupKind), v1.ReasonSubjectImmutable,
			" was created before the address was available, and its Pod template is immutable; delete and recreate it",
		},
		{true, v1.ReasonBinding, " waits for AddressBinding " + s.result.Leader + ", which is older and sets the same address"},
	} {
		if c.applies && c.reason != "" {
			return &failures.Failure{Reason: c.reason, Message: s.title + c.message}
		} else if c.applies {
			return nil
		}
	}
	return nil
}

// worst returns the problem that a condition reports, with the number of others that have its reason; nil without problems.
func worst(problems []*failures.Failure) *failures.Failure {
	rank := func(p *failures.Failure) int { return slices.Index(precedence, p.Reason) }
	ranked := slices.DeleteFunc(slices.Clone(problems), func(p *failures.Failure) bool { return p == nil || rank(p) < 0 })
	if len(ranked) == 0 {
		return nil
	}
	found := *slices.MinFunc(ranked, func(a, b *failures.Failure) int { return cmp.Compare(rank(a), rank(b)) })
	others := slices.DeleteFunc(ranked, func(p *failures.Failure) bool { return p.Reason != found.Reason })
	for _, p := range others {
		found.Message = cmp.Or(found.Message, p.Message) // subjects that wait for their turn have none
	}
	if n := len(others) - 1; n > 0 {
		found.Message += fmt.Sprintf("; and %d more", n)
	}
	return &found
}
