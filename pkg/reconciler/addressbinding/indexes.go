/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressbinding

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/binding"
)

// Names of the indexes that this reconciler adds to its informers.
const (
	// bySubjectKind finds bindings by the group and kind of their subjects, those that they had before included.
	bySubjectKind = "subjectKind"

	// byVariable finds bindings by what they may contend for: namespace, kind and variable.
	byVariable = "variable"
)

func bindingIndexers() cache.Indexers {
	return cache.Indexers{
		bySubjectKind: func(obj any) ([]string, error) {
			ab, ok := obj.(*v1.AddressBinding)
			if !ok {
				return nil, nil
			}
			return sets.List(subjectKinds(ab)), nil
		},
		byVariable: func(obj any) ([]string, error) {
			if ab, ok := obj.(*v1.AddressBinding); ok {
				return []string{variableKey(ab)}, nil
			}
			return nil, nil
		},
	}
}

func subjectKinds(ab *v1.AddressBinding) sets.Set[string] {
	kinds := sets.New(subjectKind(ab).GroupKind().String())
	for _, b := range ab.Status.Bound {
		kinds.Insert(binding.KindOf(b.APIVersion, b.Kind).String())
	}
	return kinds
}

func variableKey(ab *v1.AddressBinding) string {
	return ab.Namespace + "/" + subjectKind(ab).GroupKind().String() + "/" + ab.Spec.Variable
}
