/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/kmeta"
	"knative.dev/pkg/tracker"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/duckinformer"
	"github.com/mallard-dev/mallard/pkg/freshness"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// kind is a kind of subjects that the cluster serves.
type kind struct {
	kinds.Served
	schema.GroupKind
}

// reconcileSubjects gives the subjects the address and marks SubjectsBound.
func (r *Reconciler) reconcileSubjects(ctx context.Context, ab *v1.AddressBinding) []*problem.Problem {
	if err := r.track(ab); err != nil {
		// Only an object that admission would reject.
		ab.Status.MarkSubjectsNotBound(v1.ReasonSubjectNotFound, fmt.Sprintf("spec.subject is invalid: %v", err))
		return nil
	}
	k, objects, p := r.read(ab, subjectKind(ab), false)
	if p == nil && recordKind(ab, k) {
		// If the patches came first and this process ended before the status was stored, nobody would know where to remove the
		// variables. The event of the status update enqueues the binding.
		ab.Status.MarkBinding(v1.ReasonBinding, "subjects are patched once the status has their kind")
		return nil
	}
	problems := r.leave(ctx, ab, p == nil)
	switch {
	case p == nil:
		subjects := r.adjust(ctx, ab, k, objects)
		report(ab, k, subjects, problems)
		return append(problems, problemsOf(subjects)...)
	case p.Reason != "":
		ab.Status.Subjects = nil
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
	case ab.Generation != ab.Status.ObservedGeneration || !wasMarked(ab):
		ab.Status.MarkBinding(v1.ReasonBinding, "the subjects are being read")
	}
	return append(problems, p)
}

// wasMarked reports whether SubjectsBound has an earlier result.
func wasMarked(ab *v1.AddressBinding) bool {
	c := ab.Status.GetCondition(v1.AddressBindingConditionSubjectsBound)
	return c.IsTrue() || c.GetReason() != ""
}

// unbind removes the variables that only a binding that is being deleted wants from all objects. When it has, status.kinds is empty.
func (r *Reconciler) unbind(ctx context.Context, ab *v1.AddressBinding) []*problem.Problem {
	// An invalid subject does not matter anymore.
	_ = r.track(ab)
	return r.leave(ctx, ab, false)
}

// leave removes what is no longer wanted from the objects of the recorded kinds that are not the subject's, or of all if the binding is
// being deleted. It forgets the kinds where nothing is left, and those that the cluster does not serve anymore. served means that the
// kind of the subject was read already.
func (r *Reconciler) leave(ctx context.Context, ab *v1.AddressBinding, served bool) []*problem.Problem {
	var kept []v1.SubjectKind
	var problems []*problem.Problem
	for _, entry := range ab.Status.Kinds {
		gvk := schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind)
		isSubject := gvk.GroupKind() == subjectKind(ab).GroupKind() && ab.DeletionTimestamp == nil
		if isSubject && served {
			kept = append(kept, entry)
			continue
		}
		k, objects, p := r.read(ab, gvk, true)
		var found []*problem.Problem
		switch {
		case p != nil && (p.Reason == v1.ReasonSubjectKindNotFound || p.Reason == v1.ReasonSubjectKindNotBindable):
			continue
		case p != nil:
			if p.Reason != "" && p.Reason != v1.ReasonSubjectForbidden {
				p.Reason = v1.ReasonUnbindFailed
			}
			found = append(found, p)
		case !isSubject:
			found = problemsOf(r.adjust(ctx, ab, k, objects))
		}
		if isSubject || len(found) > 0 {
			kept = append(kept, entry)
		}
		if !isSubject {
			problems = append(problems, found...)
		}
	}
	ab.Status.Kinds = kept
	return problems
}

// recordKind adds a kind, which was listed, to the status, and reports whether it was missing.
func recordKind(ab *v1.AddressBinding, k kind) bool {
	entry := v1.SubjectKind{APIVersion: k.Resource.GroupVersion().String(), Kind: k.Kind, Resource: k.Resource.Resource}
	present, recorded := binding.Recorded(ab, k.GroupKind)
	if recorded && present == entry {
		return false
	}
	ab.Status.Kinds = append(slices.DeleteFunc(slices.Clone(ab.Status.Kinds), func(e v1.SubjectKind) bool { return e == present }), entry)
	return !recorded
}

// track makes events of subjects, also of those that do not exist yet, enqueue the binding, and events of all objects of the other kinds
// that it may have left variables in. It comes before the objects are read, so that no change is missed.
func (r *Reconciler) track(ab *v1.AddressBinding) error {
	var errs []error
	for _, entry := range ab.Status.Kinds {
		if binding.KindOf(entry.APIVersion, entry.Kind) != subjectKind(ab).GroupKind() {
			errs = append(errs, r.tracker.TrackReference(tracker.Reference{
				APIVersion: entry.APIVersion, Kind: entry.Kind, Namespace: ab.Namespace, Selector: &metav1.LabelSelector{},
			}, ab))
		}
	}
	ref := ab.Spec.Subject
	return errors.Join(append(errs, r.tracker.TrackReference(tracker.Reference{
		APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ab.Namespace, Name: ref.Name, Selector: ref.Selector,
	}, ab))...)
}

// read returns the objects of a kind in the namespace of a binding, ordered by name. Those that are being deleted and finished Jobs are
// left out. If anyVersion, a version that is not served is replaced by one that is: all versions have the same objects. It never blocks:
// when the answer changes, an event enqueues the binding. A problem without a reason ends by itself within a moment, as while a cache
// is filled, and is not reported.
func (r *Reconciler) read(ab *v1.AddressBinding, gvk schema.GroupVersionKind, anyVersion bool) (kind, []kmeta.Accessor, *problem.Problem) {
	if _, err := r.namespaces.Get(ab.Namespace); err != nil {
		// The cache does not have it yet, so nobody knows whether it opts in. Its event enqueues the binding.
		return kind{}, nil, &problem.Problem{}
	}
	k, p := r.find(gvk, anyVersion)
	if p != nil {
		return kind{}, nil, p
	}
	shape := binding.ShapeOf(k.GroupKind, k.Labels)
	lister, err := r.subjects[shape].Lister(k.Resource)
	resource := k.Resource.GroupResource()
	switch {
	case errors.Is(err, duckinformer.ErrNotSynced):
		return k, nil, &problem.Problem{}
	case apierrors.IsForbidden(err):
		return k, nil, problem.Newf(v1.ReasonSubjectForbidden,
			"the operator is not allowed to list %s; grant list, watch and patch in a ClusterRole labelled %s=true", resource, shape.RoleLabelKey())
	case err != nil:
		// The message must not vary between retries.
		return k, nil, problem.Newf(v1.ReasonSubjectUnavailable, "listing %s fails: %s", resource, steady(err))
	}
	listed, err := lister.ByNamespace(ab.Namespace).List(labels.Everything())
	if err != nil {
		return k, nil, problem.Failed(v1.ReasonSubjectUnavailable, fmt.Errorf("listing %s: %w", resource, err))
	}
	var objects []kmeta.Accessor
	for _, obj := range listed {
		object, ok := obj.(kmeta.Accessor)
		if !ok || object.GetDeletionTimestamp() != nil || binding.Finished(obj) {
			continue
		}
		if r.written.behind(object) {
			return k, nil, &problem.Problem{Recheck: freshness.Patience}
		}
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b kmeta.Accessor) int { return strings.Compare(a.GetName(), b.GetName()) })
	return k, objects, nil
}

// find returns the resource that serves a kind.
func (r *Reconciler) find(gvk schema.GroupVersionKind, anyVersion bool) (kind, *problem.Problem) {
	served, err := r.kinds.Find(gvk)
	notServed, isNotServed := errors.AsType[*kinds.NotServedError](err)
	if isNotServed && anyVersion && len(notServed.Versions) > 0 {
		served, err = r.kinds.Find(gvk.GroupKind().WithVersion(notServed.Versions[0]))
		notServed, isNotServed = errors.AsType[*kinds.NotServedError](err)
	}
	switch {
	case isNotServed:
		return kind{}, problem.Newf(v1.ReasonSubjectKindNotFound, "%v", notServed)
	case errors.Is(err, kinds.ErrNotKnown):
		return kind{}, &problem.Problem{}
	case err != nil:
		return kind{}, problem.Newf(v1.ReasonSubjectUnavailable, "discovering kind %s fails: %s", gvk.Kind, steady(err))
	case !served.Namespaced:
		return kind{}, problem.Newf(v1.ReasonSubjectKindNotBindable, "%s is cluster-scoped; a subject must be of a namespaced kind", gvk.GroupKind())
	case !binding.Bindable(gvk.GroupKind(), served.BuiltIn):
		return kind{}, problem.Newf(v1.ReasonSubjectKindNotBindable,
			"%s cannot be a subject: it has no Pod template, or is made by objects of another kind; bind those", gvk.GroupKind())
	}
	return kind{Served: served, GroupKind: gvk.GroupKind()}, nil
}

// steady returns what does not vary between the errors of retries, as ports and request IDs in their texts do.
func steady(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "no response from the API server"
}

func subjectKind(ab *v1.AddressBinding) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(ab.Spec.Subject.APIVersion, ab.Spec.Subject.Kind)
}
