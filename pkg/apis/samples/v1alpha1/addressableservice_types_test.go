/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"

	"github.com/mallard-dev/mallard/internal/testrand"
)

func TestImplementsDuckTypes(t *testing.T) {
	for name, duckType := range map[string]duck.Implementable{
		"Addressable": &duckv1.Addressable{},
		"Conditions":  &duckv1.Conditions{},
		"KResource":   &duckv1.KResource{},
	} {
		t.Run(name, func(t *testing.T) {
			if err := duck.VerifyType(&AddressableService{}, duckType); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestKRShaped(t *testing.T) {
	as := &AddressableService{}
	var shaped duckv1.KRShaped = as
	if shaped.GetStatus() != &as.Status.Status {
		t.Error("GetStatus must return the object's own status")
	}
	if got := shaped.GetConditionSet().GetTopLevelConditionType(); got != AddressableServiceConditionReady {
		t.Errorf("the top-level condition is %q, want Ready", got)
	}
	want := schema.GroupVersionKind{Group: "samples.knative.dev", Version: "v1alpha1", Kind: "AddressableService"}
	if got := as.GetGroupVersionKind(); got != want {
		t.Errorf("GetGroupVersionKind() = %v, want %v", got, want)
	}
}

func TestRandomObjectsSurviveJSON(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	codecs := serializer.NewCodecFactory(scheme)
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, knativefuzzer.Funcs), testrand.Source(t), codecs)
	for _, kind := range []string{"AddressableService", "AddressableServiceList"} {
		t.Run(kind, func(t *testing.T) {
			roundtrip.RoundTripSpecificKindWithoutProtobuf(t, SchemeGroupVersion.WithKind(kind), scheme, codecs, filler, nil)
		})
	}
}
