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
	"github.com/mallard-dev/mallard/runtime/failures"
)

// precedence is the order in which reasons of SubjectsBound are reported: the condition has the first one that applies.
var precedence = []string{
	v1.ReasonSubjectForbidden, v1.ReasonSubjectUnavailable, v1.ReasonBindFailed, v1.ReasonUnbindFailed, v1.ReasonSubjectNotPodSpecable,
	v1.ReasonExcluded, v1.ReasonNotIncluded, v1.ReasonControlled, v1.ReasonVariableTaken, v1.ReasonSubjectImmutable, v1.ReasonBinding,
}

// report counts the subjects and marks SubjectsBound. more are the problems with objects of other kinds.
func report(ab *v1.AddressBinding, k subjectKind, subjects []*subject, more []*failures.Failure) {
	all := slices.Clone(more)
	s := &ab.Status
	s.Subjects = &v1.SubjectCount{}
	chosen := binding.ChosenBy(&ab.Spec.Subject)
	for _, subject := range subjects {
		if !chosen(subject) {
			all = append(all, subject.problem)
			continue
		}
		s.Subjects.Matched++
		if p := unbound(ab, k, subject); p != nil {
			all = append(all, p)
		} else if s.Value != "" {
			s.Subjects.Bound++
		}
	}
	p := worst(all)
	switch {
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
	var found *failures.Failure
	others := 0
	rank := func(p *failures.Failure) int { return slices.Index(precedence, p.Reason) }
	for _, p := range problems {
		switch {
		case p == nil || rank(p) < 0:
		case found == nil || rank(p) < rank(found):
			found, others = new(*p), 0
		case rank(p) == rank(found):
			others++
			// Subjects that wait for their turn have no message.
			found.Message = cmp.Or(found.Message, p.Message)
		}
	}
	if others > 0 {
		found.Message += fmt.Sprintf("; and %d more", others)
	}
	return found
}
