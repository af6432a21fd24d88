/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restmapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// full is a CRD as an API server returns it: with a schema of 18 KiB, and the whole manifest again in an annotation.
func full(i int) *apiextensionsv1.CustomResourceDefinition {
	description := strings.Repeat("A field of some program's configuration. ", 18<<10/37)
	return radiusCRD(func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.APIVersion, crd.Kind = apiextensionsv1.SchemeGroupVersion.String(), "CustomResourceDefinition"
		crd.Name = fmt.Sprintf("radii%d.example.com", i)
		crd.ResourceVersion, crd.UID = "1", "uid"
		crd.Spec.Names.Kind = fmt.Sprintf("Radius%d", i)
		crd.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": description}
		crd.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		crd.Spec.Versions[1].Schema = &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Description: description},
		}
		crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{Type: apiextensionsv1.NamesAccepted})
	})
}

func TestTrim_KeepsWhatAMapperReads(t *testing.T) {
	crd := full(1)
	want := radiusCRD(func(want *apiextensionsv1.CustomResourceDefinition) {
		want.Name, want.UID, want.ResourceVersion, want.Spec.Names.Kind = crd.Name, crd.UID, crd.ResourceVersion, crd.Spec.Names.Kind
	})
	got, err := TrimExcept("another")(crd)
	if diff := cmp.Diff(any(want), got); err != nil || diff != "" {
		t.Errorf("error %v, CRD (-want +got):\n%s", err, diff)
	}
	if got, err := TrimExcept("another", crd.Name)(crd); err != nil || got != crd {
		t.Errorf("a CRD to be kept complete becomes %v, %v", got, err)
	}
	tombstone := cache.DeletedFinalStateUnknown{Key: "it"}
	if got, err := Trim(tombstone); err != nil || got != tombstone {
		t.Errorf("a tombstone becomes %v, %v", got, err)
	}
}
