/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ducks

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"
)

// Malformed is an object that does not fit the duck type, with its metadata alone, so that those that refer to it can report why.
type Malformed struct {
	*unstructured.Unstructured

	// Err is the error of decoding it.
	Err error
}

var _ kmeta.Accessor = (*Malformed)(nil)

// DeepCopyObject implements runtime.Object.
func (m *Malformed) DeepCopyObject() runtime.Object {
	return &Malformed{Unstructured: m.DeepCopy(), Err: m.Err}
}

// toDuckType keeps of each object only what the duck type has, which also keeps the cache small. It implements cache.TransformFunc, so it
// has to accept its own results.
func (f *Factory) toDuckType(obj any) (any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	u.SetManagedFields(nil)
	// Without any that is kept the map is empty, not nil: a JSON patch has to know whether the object has annotations.
	if annotations := u.GetAnnotations(); annotations != nil && f.keep != nil {
		maps.DeleteFunc(annotations, func(key, _ string) bool { return !f.keep.Has(key) })
		u.SetAnnotations(annotations)
	}
	typed := f.duckType.DeepCopyObject()
	if err := duck.FromUnstructured(u, typed); err != nil {
		identity := &unstructured.Unstructured{Object: map[string]any{"metadata": u.Object["metadata"]}}
		identity.SetGroupVersionKind(u.GroupVersionKind())
		identity.SetAnnotations(nil)
		return &Malformed{Unstructured: identity, Err: fmt.Errorf("reading %s %s/%s as %T: %w",
			u.GetKind(), u.GetNamespace(), u.GetName(), f.duckType, err)}, nil
	}
	return typed, nil
}
