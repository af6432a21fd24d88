/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/crud"
)

// Objects returns the objects of the contexts that exist, in order: those of Synchronizations, and those of Events except for Deleted. They are
// shared with a cache, so they must not be changed.
func (r *Run) Objects() iter.Seq[*unstructured.Unstructured] {
	var all []Snapshot
	for _, c := range r.Contexts {
		if all = append(all, c.Objects...); c.WatchEvent != Deleted {
			all = append(all, c.Snapshot)
		}
	}
	return objectsOf(all)
}

// Snapshots returns the objects of a binding in IncludeSnapshotsFrom or in the group, when the run began. They must not be changed either.
func (r *Run) Snapshots(binding string) iter.Seq[*unstructured.Unstructured] {
	i := slices.IndexFunc(r.Contexts, func(c Context) bool { return c.Snapshots[binding] != nil })
	if i < 0 {
		return objectsOf(nil)
	}
	return objectsOf(r.Contexts[i].Snapshots[binding]) // those of other contexts are the same
}

// objectsOf leaves out snapshots without an object, such as those of bindings that keep none in memory.
func objectsOf(snapshots []Snapshot) iter.Seq[*unstructured.Unstructured] {
	return func(yield func(*unstructured.Unstructured) bool) {
		for _, s := range snapshots {
			if s.Object != nil && !yield(s.Object) {
				return
			}
		}
	}
}

// As returns copies of objects as an API type, which may be changed: As[corev1.Service](run.Objects()) has values of type *corev1.Service.
func As[T any, P interface {
	*T
	crud.Object
}](objects iter.Seq[*unstructured.Unstructured]) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for object := range objects {
			typed := P(new(T))
			err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.DeepCopy().Object, typed)
			if err != nil {
				typed, err = nil, fmt.Errorf("reading %s %s/%s as %T: %w", object.GetKind(), object.GetNamespace(), object.GetName(), typed, err)
			}
			if !yield(typed, err) {
				return
			}
		}
	}
}
