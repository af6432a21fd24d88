/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"cmp"
	"fmt"
	"slices"

	"knative.dev/pkg/apis/duck"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/reconciler/failures"
)

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
		p := subject.problem
		if chosen(subject) {
			s.Subjects.Matched++
			if p = unbound(ab, k, subject); p == nil && s.Value != "" {
				s.Subjects.Bound++
			}
		}
		problems = append(problems, p)
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
	if s.object == nil {
		return failures.Newf(v1.ReasonSubjectNotPodSpecable, "%s: %v", s.title, s.malformed)
	}
	environments := binding.Environments(s.object)
	hasAddress := !slices.ContainsFunc(environments, func(e binding.Environment) bool { return !e.Has(ab.Spec.Variable, ab.Status.Value) })
	switch {
	case s.problem != nil:
		return s.problem
	case len(environments) == 0:
		return failures.Newf(v1.ReasonSubjectNotPodSpecable, "%s has no containers at spec.template", s.title)
	case ab.Status.Value == "":
		return nil
	case s.excluded:
		return failures.Newf(v1.ReasonExcluded, "%s: it or its namespace has the label %s=true", s.title, duck.BindingExcludeLabel)
	case !s.included:
		return failures.Newf(v1.ReasonNotIncluded, "%s: neither it nor its namespace has the label %s=true", s.title, duck.BindingIncludeLabel)
	case binding.Controlled(s.object) && !hasAddress:
		return failures.Newf(v1.ReasonControlled, "%s is controlled by another object, which would revert the change; bind that object", s.title)
	case s.result.Taken != "":
		return failures.Newf(v1.ReasonVariableTaken, "%s: %s", s.title, s.result.Taken)
	case hasAddress:
		return nil
	case binding.Immutable(k.GroupKind):
		return failures.Newf(v1.ReasonSubjectImmutable,
			"%s was created before the address was available, and its Pod template is immutable; delete and recreate it", s.title)
	default:
		return failures.Newf(v1.ReasonBinding, "%s waits for AddressBinding %s, which is older and sets the same address", s.title, s.result.Leader)
	}
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
