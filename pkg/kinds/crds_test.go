/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kinds

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

func TestDropSchemas(t *testing.T) {
	crd := radiusCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		crd.Spec.Versions[0].Schema = &apiextensionsv1.CustomResourceValidation{}
	})
	if got, err := DropSchemas(crd); err != nil || got != crd || crd.ManagedFields != nil || crd.Spec.Versions[0].Schema != nil {
		t.Errorf("of the CRD is left %+v, %v", crd, err)
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "it"}
	if got, err := DropSchemas(tombstone); err != nil || got != tombstone {
		t.Errorf("a tombstone becomes %v, %v", got, err)
	}
}
