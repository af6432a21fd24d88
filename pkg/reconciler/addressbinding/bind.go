/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// sweep is what a pass found out about the objects of one kind in a namespace.
type sweep struct {
	// kind is nil if it was not found.
	kind *kind
	// exists is whether there may be objects of the kind at all.
	exists bool
	// problem is why they could not be looked at.
	problem  *problem.Problem
	subjects []*subject
}

// reconcileSubjects gives subjects what they are to have. It returns what was found of the binding's own kind, and what is in
// the way. Nothing is written before it stands in the status, whose write brings another pass: ahead says that the status
// already differs from what is stored.
func (r *Reconciler) reconcileSubjects(ctx context.Context, ab *v1.AddressBinding, ahead bool) (sweep, *problem.Problem) {
	wanted := wantedEntry(ab)
	if wanted != nil {
		var listed bool
		ab.Status.Bound, listed = withEntry(ab.Status.Bound, *wanted)
		ahead = ahead || !listed
	}
	if p := r.track(ab); p != nil {
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
		return sweep{problem: p}, p
	}
	all, err := r.bindings.AddressBindings(ab.Namespace).List(labels.Everything())
	if err != nil {
		p := problem.Failed(v1.ReasonSubjectUnavailable, fmt.Errorf("listing bindings: %w", err))
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
		return sweep{problem: p}, p
	}
	sweeps := map[schema.GroupKind]sweep{}
	gvk := subjectKind(ab)
	sweeps[gvk.GroupKind()] = r.sweep(ctx, ab, gvk, all, !ahead, false)
	own := sweeps[gvk.GroupKind()]
	if wanted != nil && own.kind != nil {
		atVersionOf(ab.Status.Bound, *wanted)
	}
	r.sweepBound(ctx, ab, sweeps, all, gvk)
	var settling *problem.Problem
	if !ahead {
		settling = r.prune(ab, wanted, sweeps, all)
	}

	markSubjects(ab, own, sweeps)
	return own, first(append(problemsOf(sweeps), settling))
}

// unbind takes everything of a binding that is being deleted out of all objects. It returns nil once nothing is left.
func (r *Reconciler) unbind(ctx context.Context, ab *v1.AddressBinding) *problem.Problem {
	all, err := r.bindings.AddressBindings(ab.Namespace).List(labels.Everything())
	if err != nil {
		return problem.Failed(v1.ReasonUnbindFailed, fmt.Errorf("listing bindings: %w", err))
	}
	sweeps := map[schema.GroupKind]sweep{}
	r.sweepBound(ctx, ab, sweeps, all)
	settling := r.prune(ab, nil, sweeps, all)
	if len(ab.Status.Bound) == 0 {
		return nil
	}
	if p := worst(problemsOf(sweeps)); p != nil && p.Reason != v1.ReasonBinding {
		if p.Reason != v1.ReasonSubjectForbidden {
			p.Reason = v1.ReasonUnbindFailed
		}
		if p.Err == nil && p.Recheck == 0 {
			// Nothing to do but wait would take the finalizer away.
			p.Recheck = r.troubles.RecheckAfter(ab, p.Reason)
		}
		return p
	}
	// No reason: that it takes a moment is nothing to tell of.
	if settling == nil {
		settling = &problem.Problem{Recheck: problem.FirstRecheck}
	}
	return settling
}

// track makes a change of a subject wake the binding, also of one that does not exist yet. It comes before each look-up, so
// that no change is missed.
func (r *Reconciler) track(ab *v1.AddressBinding) *problem.Problem {
	ref := ab.Spec.Subject
	err := r.tracker.TrackReference(tracker.Reference{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ab.Namespace, Name: ref.Name, Selector: ref.Selector,
	}, ab)
	if err != nil {
		// Admission refuses what the tracker does, so this object came in past it.
		return problem.Newf(v1.ReasonSubjectNotFound, "spec.subject is invalid: %v", err)
	}
	return nil
}

// sweepBound looks at the kinds that status.bound lists, but for those that were found, and not at the versions that were tried: of a kind
// that is served at none of them there is nothing.
func (r *Reconciler) sweepBound(ctx context.Context, ab *v1.AddressBinding, sweeps map[schema.GroupKind]sweep, all []*v1.AddressBinding,
	tried ...schema.GroupVersionKind,
) {
	for _, b := range ab.Status.Bound {
		gvk := schema.FromAPIVersionAndKind(b.APIVersion, b.Kind)
		if sweeps[gvk.GroupKind()].exists || slices.Contains(tried, gvk) {
			continue
		}
		tried = append(tried, gvk)
		sweeps[gvk.GroupKind()] = r.sweep(ctx, ab, gvk, all, true, true)
	}
}

// sweep has each object of a kind in the binding's namespace be what it is to be.
func (r *Reconciler) sweep(ctx context.Context, ab *v1.AddressBinding, gvk schema.GroupVersionKind, all []*v1.AddressBinding, write, anyVersion bool) sweep {
	k, exists, p := r.findKind(gvk, anyVersion)
	if p != nil {
		return sweep{exists: exists, problem: p}
	}
	found := sweep{kind: &k, exists: true}
	objects, p := r.list(ab, k)
	if p != nil {
		found.problem = p
		return found
	}
	a := &adjuster{Reconciler: r, binding: ab, kind: k, decider: binding.Of(k.GroupKind, all), choice: binding.ChoiceOf(&ab.Spec.Subject)}
	if namespace, err := r.namespaces.Get(ab.Namespace); err == nil {
		a.namespace = namespace.Labels
	} else {
		// It is not in the cache yet, so nobody knows whether it opts in. Its event wakes us.
		write = false
	}
	for _, object := range objects {
		s := a.adjust(ctx, object, write)
		if s == nil {
			continue
		}
		found.subjects = append(found.subjects, s)
		if s.problem != nil && s.problem.Reason == v1.ReasonSubjectForbidden {
			// The others would be refused as well.
			write = false
		}
	}
	return found
}

// prune takes out of status.bound what no object holds any more. It returns a problem with the time of another look if
// something is to be taken out later. It is not called as long as the status is ahead of what is stored: another binding may
// just now be leaving the same variable to this one, by what it sees of it.
func (r *Reconciler) prune(ab *v1.AddressBinding, wanted *v1.BoundVariable, sweeps map[schema.GroupKind]sweep, all []*v1.AddressBinding) *problem.Problem {
	var later time.Duration
	terminating, leaving := r.isTerminating(ab.Namespace), ab.DeletionTimestamp != nil
	ab.Status.Bound = slices.DeleteFunc(ab.Status.Bound, func(entry v1.BoundVariable) bool {
		found := sweeps[binding.KindOf(entry.APIVersion, entry.Kind)]
		isWanted := wanted != nil && sameVariable(entry, *wanted)
		covered := !isWanted && coveredByOther(entry, ab.UID, all)
		here := listing{ab.UID, entry}
		// What was given to an object that cannot be changed ends with that, and a binding that goes does not wait for it.
		if isWanted || !covered && found.holds(entry) && !(leaving && found.isImmutable()) {
			// Whatever takes it out brings another pass.
			r.unused.Forget(here)
			return false
		}
		after := settle - r.unused.Lasted(here)
		if covered || !found.exists || after <= 0 || terminating {
			r.unused.Forget(here)
			return true
		}
		if later == 0 || after < later {
			later = after
		}
		return false
	})
	if len(ab.Status.Bound) == 0 {
		ab.Status.Bound = nil
	}
	if later == 0 {
		return nil
	}
	return &problem.Problem{Recheck: later}
}

// holds is whether an object holds what an entry says. What could not be looked at may.
func (s sweep) holds(entry v1.BoundVariable) bool {
	if s.problem != nil {
		return s.exists
	}
	if s.kind == nil {
		return false
	}
	return slices.ContainsFunc(s.subjects, func(s *subject) bool {
		return s.object != nil && binding.Holds(s.object, entry.Name, entry.Value)
	})
}

// isImmutable is whether nothing can be taken out of the objects.
func (s sweep) isImmutable() bool { return s.kind != nil && binding.Immutable(s.kind.GroupKind) }

// isTerminating is whether nothing new can come into a namespace.
func (r *Reconciler) isTerminating(namespace string) bool {
	found, err := r.namespaces.Get(namespace)
	return err == nil && found.DeletionTimestamp != nil
}

func subjectKind(ab *v1.AddressBinding) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(ab.Spec.Subject.APIVersion, ab.Spec.Subject.Kind)
}
