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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/observe/ducks"
	"github.com/mallard-dev/mallard/observe/expectations"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/runtime/failures"
	"github.com/mallard-dev/mallard/runtime/restmapping"
)

// settling is the time in which every webhook is expected to observe that a binding is being deleted, and its last answers to be stored.
const settling = 2 * time.Second

// subjectKind is a kind of subjects that the cluster serves.
type subjectKind struct {
	restmapping.Served
	schema.GroupKind
}

// reconcileSubjects gives the subjects the address and marks SubjectsBound.
func (r *Reconciler) reconcileSubjects(ctx context.Context, ab *v1.AddressBinding) []*failures.Failure {
	k, objects, p := r.read(ab, subjectGVK(ab))
	if p == nil && recordKind(ab, k) {
		// If the patches were sent first and this process exited before the status was stored, no record would show where to remove the variables.
		// The event of the status update enqueues the binding.
		ab.Status.MarkBinding(v1.ReasonBinding, fmt.Sprintf("objects of kind %s are patched once status.kinds contains it", k.GroupKind))
		return nil
	}
	problems := r.leave(ctx, ab)
	if p == nil {
		subjects, failed := r.adjust(ctx, ab, k, objects)
		report(ab, k, subjects, problems)
		return append(problems, failed...)
	}
	if p.Reason != "" {
		ab.Status.Subjects = nil
		ab.Status.MarkSubjectsNotBound(p.Reason, p.Message)
	} else if c := ab.Status.GetCondition(v1.AddressBindingConditionSubjectsBound); ab.Generation != ab.Status.ObservedGeneration ||
		!c.IsTrue() && c.GetReason() == "" {
		// There is no earlier result to keep.
		ab.Status.MarkBinding(v1.ReasonBinding, fmt.Sprintf("the objects of kind %s have not been read", subjectGVK(ab).GroupKind()))
	}
	return append(problems, p)
}

// leave removes what is no longer wanted from the objects of the recorded kinds that are not the subject's, or of all if the binding is
// being deleted. It forgets the kinds where nothing is left, and those that the cluster does not serve anymore.
func (r *Reconciler) leave(ctx context.Context, ab *v1.AddressBinding) []*failures.Failure {
	var problems []*failures.Failure
	ab.Status.Kinds = slices.DeleteFunc(slices.Clone(ab.Status.Kinds), func(entry v1.SubjectKind) bool {
		gvk := schema.FromAPIVersionAndKind(entry.APIVersion, entry.Kind)
		if gvk.GroupKind() == subjectGVK(ab).GroupKind() && ab.DeletionTimestamp == nil {
			return false
		}
		left := r.unbind(ctx, ab, gvk)
		problems = append(problems, left...)
		return len(left) == 0
	})
	return problems
}

// unbind removes the variables that only this binding wants from the objects of a kind, and returns what prevents it. The cache may lack objects, so it
// lists them in the API server, and again after settling, until a list has nothing to remove.
func (r *Reconciler) unbind(ctx context.Context, ab *v1.AddressBinding, gvk schema.GroupVersionKind) (problems []*failures.Failure) {
	k, p := r.find(gvk, true)
	namespace, err := r.namespaces.Get(ab.Namespace)
	switch {
	case err != nil:
		// As in read.
		return []*failures.Failure{{}}
	case namespace.DeletionTimestamp != nil, binding.Immutable(gvk.GroupKind()):
		// No object can be created, or none can be changed.
		return nil
	case p != nil && (p.Reason == v1.ReasonSubjectKindNotFound || p.Reason == v1.ReasonSubjectKindNotBindable):
		return nil
	case p != nil:
		return []*failures.Failure{p}
	}
	key := fmt.Sprintf("%s/%d/%s", ab.UID, ab.Generation, k.GroupKind)
	last := r.attempts.of(key)
	if wait := settling - r.attempts.clock.Since(last.at); wait > 0 {
		return []*failures.Failure{{Recheck: wait}}
	}
	settled := !last.at.IsZero()
	for options := (metav1.ListOptions{Limit: 500}); ; {
		page, err := r.dynamic.Resource(k.Resource).Namespace(ab.Namespace).List(ctx, options)
		if err != nil {
			failed := failures.Failed(v1.ReasonUnbindFailed, fmt.Errorf("listing %s: %w", k.Resource.GroupResource(), err))
			if apierrors.IsForbidden(err) {
				failed.Reason = v1.ReasonSubjectForbidden
			}
			return []*failures.Failure{failed}
		}
		var objects []kmeta.Accessor
		for i := range page.Items {
			object := binding.ShapeOf(k.GroupKind, k.Labels).New()
			if duck.FromUnstructured(&page.Items[i], object) == nil && object.GetDeletionTimestamp() == nil {
				objects = append(objects, object)
			}
		}
		subjects, failed := r.adjust(ctx, ab, k, objects)
		problems = append(problems, failed...)
		settled = settled && !slices.ContainsFunc(subjects, func(s *subject) bool { return s.patch != "" })
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	if !settled {
		r.attempts.made(key, nil)
		problems = append(problems, &failures.Failure{Recheck: settling})
	}
	return problems
}

// recordKind adds a kind, which was listed, to the status, and reports whether it was missing.
func recordKind(ab *v1.AddressBinding, k subjectKind) bool {
	entry := v1.SubjectKind{APIVersion: k.Resource.GroupVersion().String(), Kind: k.Kind, Resource: k.Resource.Resource}
	present, recorded := binding.Recorded(ab, k.GroupKind)
	if recorded && present == entry {
		return false
	}
	ab.Status.Kinds = append(slices.DeleteFunc(slices.Clone(ab.Status.Kinds), func(e v1.SubjectKind) bool { return e == present }), entry)
	return !recorded
}

// read returns the objects of a kind in the namespace of a binding, ordered by name. Those that are being deleted and finished Jobs are
// left out. It never blocks: when the answer changes, an event enqueues the binding. A problem without a reason ends by itself within a moment, as
// while a cache is filled, and is not reported.
func (r *Reconciler) read(ab *v1.AddressBinding, gvk schema.GroupVersionKind) (subjectKind, []kmeta.Accessor, *failures.Failure) {
	if _, err := r.namespaces.Get(ab.Namespace); err != nil {
		// The cache does not have it yet, so it is unknown whether it opts in. Its event enqueues the binding.
		return subjectKind{}, nil, &failures.Failure{}
	}
	k, p := r.find(gvk, false)
	if p != nil {
		return subjectKind{}, nil, p
	}
	shape := binding.ShapeOf(k.GroupKind, k.Labels)
	lister, err := r.subjects[shape].Lister(k.Resource)
	resource := k.Resource.GroupResource()
	switch {
	case errors.Is(err, ducks.ErrNotSynced):
		return k, nil, &failures.Failure{}
	case apierrors.IsForbidden(err):
		return k, nil, failures.Newf(v1.ReasonSubjectForbidden,
			"the operator is not allowed to list %s; grant list, watch and patch in a ClusterRole labeled %s=true", resource, shape.RoleLabelKey())
	case err != nil:
		// The message must not vary between retries.
		return k, nil, failures.Newf(v1.ReasonSubjectUnavailable, "listing %s fails: %s", resource, steady(err))
	}
	listed, err := lister.ByNamespace(ab.Namespace).List(labels.Everything())
	if err != nil {
		return k, nil, failures.Failed(v1.ReasonSubjectUnavailable, fmt.Errorf("listing %s: %w", resource, err))
	}
	var objects []kmeta.Accessor
	for _, obj := range listed {
		object, ok := obj.(kmeta.Accessor)
		if !ok || object.GetDeletionTimestamp() != nil || binding.Finished(obj) {
			continue
		}
		if r.expectations.Behind(object) {
			return k, nil, &failures.Failure{Recheck: expectations.Patience}
		}
		objects = append(objects, object)
	}
	slices.SortFunc(objects, func(a, b kmeta.Accessor) int { return strings.Compare(a.GetName(), b.GetName()) })
	return k, objects, nil
}

// find returns the resource that serves a kind. If anyVersion, a version that is not served is replaced by one that is: all versions have the same
// objects.
func (r *Reconciler) find(gvk schema.GroupVersionKind, anyVersion bool) (subjectKind, *failures.Failure) {
	served, err := r.mapper.Map(gvk)
	notServed, isNotServed := errors.AsType[*restmapping.NotServedError](err)
	if isNotServed && anyVersion && len(notServed.Versions) > 0 {
		return r.find(gvk.GroupKind().WithVersion(notServed.Versions[0]), false)
	}
	switch {
	case isNotServed:
		return subjectKind{}, failures.Newf(v1.ReasonSubjectKindNotFound, "%v", notServed)
	case errors.Is(err, restmapping.ErrNotKnown):
		return subjectKind{}, &failures.Failure{}
	case err != nil:
		return subjectKind{}, failures.Newf(v1.ReasonSubjectUnavailable, "discovering kind %s fails: %s", gvk.Kind, steady(err))
	case !served.Namespaced:
		return subjectKind{}, failures.Newf(v1.ReasonSubjectKindNotBindable, "%s is cluster-scoped; a subject must be of a namespaced kind", gvk.GroupKind())
	case !binding.Bindable(gvk.GroupKind(), served.BuiltIn):
		return subjectKind{}, failures.Newf(v1.ReasonSubjectKindNotBindable,
			"%s cannot be a subject: it has no Pod template, or is made by objects of another kind; bind those", gvk.GroupKind())
	}
	return subjectKind{Served: served, GroupKind: gvk.GroupKind()}, nil
}

// steady returns an error without the parts of its text that vary between retries, such as ports and request IDs.
func steady(err error) string {
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return "no response from the API server"
}

func subjectGVK(ab *v1.AddressBinding) schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(ab.Spec.Subject.APIVersion, ab.Spec.Subject.Kind)
}
