/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/kmeta"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
	"github.com/mallard-dev/mallard/pkg/duckinformer"
	"github.com/mallard-dev/mallard/pkg/kinds"
	"github.com/mallard-dev/mallard/pkg/problem"
)

// kind is a kind of subjects that the cluster serves.
type kind struct {
	kinds.Served
	schema.GroupKind
}

// findKind finds what serves a kind of subjects. If anyVersion, another version than the one that is asked for does, for it
// has the same objects. The error is nil beside a problem if the kind does not exist at all, so that it has no objects.
func (r *Reconciler) findKind(gvk schema.GroupVersionKind, anyVersion bool) (kind, bool, *problem.Problem) {
	served, err := r.kinds.Find(gvk)
	notServed, isNotServed := errors.AsType[*kinds.NotServedError](err)
	if isNotServed && anyVersion && len(notServed.Versions) > 0 {
		served, err = r.kinds.Find(gvk.GroupKind().WithVersion(notServed.Versions[0]))
		notServed, isNotServed = errors.AsType[*kinds.NotServedError](err)
	}
	switch {
	case isNotServed:
		exists := len(notServed.Versions) > 0
		return kind{}, exists, problem.Newf(v1.ReasonSubjectKindNotFound, "%v", notServed)
	case err != nil:
		// Discovery is retried in the background; its answer enqueues the binding.
		return kind{}, true, problem.Newf(v1.ReasonSubjectUnavailable, "%v", err)
	case !served.Namespaced:
		return kind{}, false, problem.Newf(v1.ReasonSubjectNotPodSpecable,
			"objects of %s are in no namespace, so there are none beside the binding", gvk.GroupKind())
	case !binding.Bindable(gvk.GroupKind(), served.BuiltIn):
		return kind{}, false, problem.Newf(v1.ReasonSubjectNotPodSpecable, "%s is a built-in kind without a Pod template", gvk.GroupKind())
	}
	return kind{Served: served, GroupKind: gvk.GroupKind()}, true, nil
}

// list returns the objects of a kind in the namespace of a binding, by their names: as they were last written, and as a
// *duckinformer.Malformed what does not fit the shape of the kind. Those that are being deleted are left out.
func (r *Reconciler) list(ab *v1.AddressBinding, k kind) ([]kmeta.Accessor, *problem.Problem) {
	shape := binding.ShapeOf(k.GroupKind, k.Labels)
	// Whatever the error, the informer retries, and a change enqueues the binding.
	lister, err := r.subjects[shape].Lister(k.Resource)
	switch {
	case apierrors.IsForbidden(err):
		return nil, problem.Newf(v1.ReasonSubjectForbidden, "the operator may not list %s; grant list, watch and patch in a ClusterRole labelled %s=true",
			k.Resource.GroupResource(), shape.RoleLabelKey())
	case apierrors.IsNotFound(err):
		return nil, problem.Newf(v1.ReasonSubjectKindNotFound, "%v", &kinds.NotServedError{Kind: k.WithVersion(k.Resource.Version)})
	case err != nil:
		return nil, problem.Newf(v1.ReasonSubjectUnavailable, "%v", err)
	}
	objs, err := lister.ByNamespace(ab.Namespace).List(labels.Everything())
	if err != nil {
		return nil, problem.Failed(v1.ReasonSubjectUnavailable, fmt.Errorf("listing %s: %w", k.Resource.GroupResource(), err))
	}
	objects := make([]kmeta.Accessor, 0, len(objs))
	for _, obj := range objs {
		var object kmeta.Accessor
		switch obj := obj.(type) {
		case binding.Object:
			object = r.written.newest(k.Resource, obj)
		case *duckinformer.Malformed:
			object = obj
		}
		if object != nil && object.GetDeletionTimestamp() == nil {
			objects = append(objects, object)
		}
	}
	slices.SortFunc(objects, func(a, b kmeta.Accessor) int { return strings.Compare(a.GetName(), b.GetName()) })
	return objects, nil
}

// forbidden is looked at again ever more slowly, because no watch tells that a permission was granted.
func (r *Reconciler) forbidden(ab *v1.AddressBinding, format string, args ...any) *problem.Problem {
	p := problem.Newf(v1.ReasonSubjectForbidden, format, args...)
	p.Recheck = r.troubles.RecheckAfter(ab, v1.ReasonSubjectForbidden)
	return p
}
