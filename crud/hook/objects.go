/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/mallard-dev/mallard/crud"
)

// Objects returns the objects of the contexts that exist, in order: those of Synchronizations, and those of Events except for Deleted. They are
// shared with a cache, so they must not be changed.
func (r *Run) Objects() iter.Seq[*unstructured.Unstructured] {
	return func(yield func(*unstructured.Unstructured) bool) {
		for _, c := range r.Contexts {
			if c.WatchEvent != Deleted && c.Object != nil && !yield(c.Object) || !each(c.Objects, yield) {
				return
			}
		}
	}
}

// Snapshots returns the objects of a binding in IncludeSnapshotsFrom or in the group, when the run began. They must not be changed either.
func (r *Run) Snapshots(binding string) iter.Seq[*unstructured.Unstructured] {
	return func(yield func(*unstructured.Unstructured) bool) {
		for _, c := range r.Contexts {
			if snapshots, has := c.Snapshots[binding]; has {
				each(snapshots, yield) // those of other contexts are the same
				return
			}
		}
	}
}

// each reports whether yield requests more. A snapshot without an object is one of a binding that does not keep objects in memory.
func each(snapshots []Snapshot, yield func(*unstructured.Unstructured) bool) bool {
	for _, s := range snapshots {
		if s.Object != nil && !yield(s.Object) {
			return false
		}
	}
	return true
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
