/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// precedence of the reasons: of several, the first is told.
var precedence = []string{
	v1.ReasonSubjectForbidden, v1.ReasonSubjectUnavailable, v1.ReasonBindFailed, v1.ReasonUnbindFailed, v1.ReasonSubjectNotPodSpecable,
	v1.ReasonNotIncluded, v1.ReasonVariableTaken, v1.ReasonSubjectImmutable, v1.ReasonBinding,
}

// messages are those of what is in the way, by reason.
type messages map[string][]string

func (m messages) addf(reason, format string, args ...any) {
	m[reason] = append(m[reason], fmt.Sprintf(format, args...))
}

// first is the reason that is told, empty if there is none, with its message.
func (m messages) first() (reason, message string) {
	for _, reason := range precedence {
		if all := m[reason]; len(all) > 0 {
			message := all[0]
			if more := len(all) - 1; more > 0 {
				message += fmt.Sprintf("; and %d more", more)
			}
			return reason, message
		}
	}
	return "", ""
}

// markSubjects marks SubjectsBound by what was found of the binding's own kind, own, and of all kinds.
func markSubjects(ab *v1.AddressBinding, own sweep, sweeps map[schema.GroupKind]sweep) {
	s := &ab.Status
	if own.problem != nil {
		s.Subjects = nil
		s.MarkSubjectsNotBound(own.problem.Reason, own.problem.Message)
		return
	}
	found := messages{}
	for _, subject := range own.subjects {
		if subject.problem != nil {
			found.addf(subject.problem.Reason, "%s", subject.problem.Message)
		}
	}
	s.Subjects = count(ab, own, found)
	for groupKind, other := range sweeps {
		if groupKind == own.kind.GroupKind {
			continue
		}
		// It is one that the binding was for before.
		for _, p := range other.problems() {
			found.addf(cmp.Or(p.Reason, v1.ReasonBindFailed), "%s", p.Message)
		}
	}
	reason, message := found.first()
	switch {
	case reason != "" && reason != v1.ReasonBinding:
		s.MarkSubjectsNotBound(reason, message)
	case ab.Spec.Subject.Name != "" && s.Subjects.Matched == 0:
		s.MarkSubjectsNotBound(v1.ReasonSubjectNotFound, fmt.Sprintf("%s %s does not exist", own.kind.GroupKind, ab.Spec.Subject.Name))
	case s.Value == "":
		s.MarkNoAddressToBind()
	case reason != "":
		s.MarkBinding(message)
	default:
		s.MarkSubjectsBound()
	}
}

// count counts the subjects, and adds why those that do not have the value do not.
func count(ab *v1.AddressBinding, own sweep, found messages) *v1.SubjectCount {
	subjects := &v1.SubjectCount{}
	choice := binding.ChoiceOf(&ab.Spec.Subject)
	for _, s := range own.subjects {
		if !choice.Includes(own.kind.GroupKind, s.metadata) {
			continue
		}
		subjects.Matched++
		if s.object == nil {
			found.addf(v1.ReasonSubjectNotPodSpecable, "%s %s: %v", own.kind.Kind, s.metadata.GetName(), s.malformed)
			continue
		}
		environments := binding.Environments(s.object)
		switch {
		case s.problem != nil:
		case len(environments) == 0:
			found.addf(v1.ReasonSubjectNotPodSpecable, "%s %s has no containers at spec.template", own.kind.Kind, s.metadata.GetName())
		case ab.Status.Value == "":
		case !s.included:
			found.addf(v1.ReasonNotIncluded, "%s %s: %s", own.kind.Kind, s.metadata.GetName(), whyNotIncluded(s))
		case len(s.taken) > 0:
			found.addf(v1.ReasonVariableTaken, "%s %s: %s", own.kind.Kind, s.metadata.GetName(), whoseVariable(s.taken[0]))
		case haveAll(environments, ab.Spec.Variable, ab.Status.Value):
			subjects.Bound++
		case binding.Immutable(own.kind.GroupKind):
			found.addf(v1.ReasonSubjectImmutable, "%s %s was there before the address, and its containers cannot be changed",
				own.kind.Kind, s.metadata.GetName())
		default:
			found.addf(v1.ReasonBinding, "%s %s is about to get the address", own.kind.Kind, s.metadata.GetName())
		}
	}
	return subjects
}

func whyNotIncluded(s *subject) string {
	if s.excluded {
		return "it or its namespace has the label " + duck.BindingExcludeLabel + "=true"
	}
	return "neither it nor its namespace has the label " + duck.BindingIncludeLabel + "=true"
}

func whoseVariable(t binding.Taken) string {
	if t.By != "" {
		return fmt.Sprintf("variable %s is that of AddressBinding %s, which is older", t.Variable, t.By)
	}
	if t.Container == "" {
		return fmt.Sprintf("it has a variable %s of its own", t.Variable)
	}
	return fmt.Sprintf("container %s has a variable %s of its own", t.Container, t.Variable)
}

// haveAll is whether a variable has a value in every environment.
func haveAll(environments []binding.Environment, name, value string) bool {
	return !slices.ContainsFunc(environments, func(e binding.Environment) bool { return !e.Has(name, value) })
}

// problems are those of a kind and of its objects.
func (s sweep) problems() []*problem.Problem {
	if s.problem != nil {
		if !s.exists {
			// There is nothing to be done about it.
			return nil
		}
		return []*problem.Problem{s.problem}
	}
	var all []*problem.Problem
	for _, subject := range s.subjects {
		if subject.problem != nil {
			all = append(all, subject.problem)
		}
	}
	return all
}

// problemsOf are in the order of the kinds' names, so that equal passes end alike.
func problemsOf(sweeps map[schema.GroupKind]sweep) []*problem.Problem {
	var all []*problem.Problem
	kinds := slices.SortedFunc(maps.Keys(sweeps), func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	for _, groupKind := range kinds {
		all = append(all, sweeps[groupKind].problems()...)
	}
	return all
}

// first is the problem that decides what is next, as problem.Outcome does it: the first error or else the earliest recheck.
func first(problems []*problem.Problem) *problem.Problem {
	var next *problem.Problem
	for _, p := range problems {
		switch {
		case p == nil:
		case p.Err != nil:
			return p
		case next == nil, p.Recheck > 0 && (next.Recheck == 0 || p.Recheck < next.Recheck):
			next = p
		}
	}
	return next
}

// worst is the problem that is told where only one can be, nil if there is none. What is next is up to all of them.
func worst(problems []*problem.Problem) *problem.Problem {
	next := first(problems)
	if next == nil {
		return nil
	}
	told := *slices.MinFunc(problems, func(a, b *problem.Problem) int {
		return cmp.Compare(slices.Index(precedence, a.Reason), slices.Index(precedence, b.Reason))
	})
	told.Recheck, told.Err = next.Recheck, next.Err
	return &told
}
