/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
)

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

func TestTypes_Scheme_HasEachKind(t *testing.T) {
	scheme := newScheme(t)
	for name, obj := range map[string]runtime.Object{
		"AddressableService":     &AddressableService{},
		"AddressableServiceList": &AddressableServiceList{},
		"ListOptions":            &metav1.ListOptions{},
	} {
		kinds, _, err := scheme.ObjectKinds(obj)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := SchemeGroupVersion.WithKind(name); kinds[0] != want {
			t.Errorf("%T is registered as %v, want %v", obj, kinds[0], want)
		}
	}
	if got, want := samples.Kind("K"), (schema.GroupKind{Group: samples.GroupName, Kind: "K"}); got != want {
		t.Errorf("Kind() = %v, want %v", got, want)
	}
	if got, want := Resource("r"), (schema.GroupResource{Group: samples.GroupName, Resource: "r"}); got != want {
		t.Errorf("Resource() = %v, want %v", got, want)
	}
}

func TestAddressableService_Type_ImplementsItsDuckTypes(t *testing.T) {
	for name, implementable := range map[string]duck.Implementable{
		"Addressable": &duckv1.Addressable{},
		"Conditions":  &duckv1.Conditions{},
		"KResource":   &duckv1.KResource{},
	} {
		t.Run(name, func(t *testing.T) {
			if err := duck.VerifyType(&AddressableService{}, implementable); err != nil {
				t.Error(err)
			}
		})
	}
}
