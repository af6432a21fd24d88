/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"knative.dev/pkg/apis"
	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"
	"knative.dev/pkg/kmeta"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

func TestTypes_Kinds_ImplementTheirDuckTypes(t *testing.T) {
	for name, duckType := range map[string]duck.Implementable{
		"Addressable": &duckv1.Addressable{},
		"Conditions":  &duckv1.Conditions{},
		"KResource":   &duckv1.KResource{},
	} {
		for _, version := range versions {
			t.Run(version.Name+" "+name, func(t *testing.T) {
				if err := duck.VerifyType(version.New(), duckType); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestTypes_Kinds_AreKRShaped(t *testing.T) {
	for _, version := range versions {
		t.Run(version.Name, func(t *testing.T) {
			as := version.New().(interface {
				duckv1.KRShaped
				kmeta.OwnerRefable
			})
			as.GetStatus().ObservedGeneration = 7
			var written struct {
				Status duckv1.Status `json:"status"`
			}
			decode(t, encode(t, as), &written)
			if written.Status.ObservedGeneration != 7 {
				t.Error("GetStatus must return the object's own status, for the generated reconciler writes into it")
			}
			if got := as.GetConditionSet().GetTopLevelConditionType(); got != apis.ConditionReady {
				t.Errorf("the top-level condition is %q, want Ready", got)
			}
			want := schema.GroupVersionKind{Group: "samples.knative.dev", Version: version.Name, Kind: "AddressableService"}
			if got := as.GetGroupVersionKind(); got != want {
				t.Errorf("GetGroupVersionKind() = %v, want %v", got, want)
			}
		})
	}
}

func TestTypes_RandomObjects_SurviveJSON(t *testing.T) {
	for group, addToScheme := range map[schema.GroupVersion]func(*runtime.Scheme) error{
		v1alpha1.SchemeGroupVersion: v1alpha1.Install,
		v1beta1.SchemeGroupVersion:  v1beta1.Install,
		v1.SchemeGroupVersion:       v1.Install,
	} {
		scheme := runtime.NewScheme()
		if err := addToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		codecs := serializer.NewCodecFactory(scheme)
		for _, kind := range []string{"AddressableService", "AddressableServiceList"} {
			t.Run(group.Version+" "+kind, func(t *testing.T) {
				filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, knativefuzzer.Funcs), testrand.Source(t), codecs)
				roundtrip.RoundTripSpecificKindWithoutProtobuf(t, group.WithKind(kind), scheme, codecs, filler, nil)
			})
		}
	}
}
