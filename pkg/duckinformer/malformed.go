/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package duckinformer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"knative.dev/pkg/apis/duck"
	"knative.dev/pkg/kmeta"
)

// Malformed is an object that does not fit the duck type. It keeps only what
// identifies it, so that whoever refers to it can be told why it is of no use.
type Malformed struct {
	*unstructured.Unstructured

	// Err says what does not fit.
	Err error
}

var _ kmeta.Accessor = (*Malformed)(nil)

// DeepCopyObject implements runtime.Object.
func (m *Malformed) DeepCopyObject() runtime.Object {
	return &Malformed{Unstructured: m.DeepCopy(), Err: m.Err}
}

// toDuckType keeps of each object only what the duck type has, which also keeps
// the cache small. It implements cache.TransformFunc, so it has to accept its
// own results.
func (f *Factory) toDuckType(obj any) (any, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj, nil
	}
	u.SetManagedFields(nil)
	typed := f.duckType.DeepCopyObject()
	if err := duck.FromUnstructured(u, typed); err != nil {
		return &Malformed{
			Unstructured: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": u.GetAPIVersion(),
				"kind":       u.GetKind(),
				"metadata":   u.Object["metadata"],
			}},
			Err: fmt.Errorf("reading %s %s/%s as %T: %w", u.GetKind(), u.GetNamespace(), u.GetName(), f.duckType, err),
		}, nil
	}
	return typed, nil
}
