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

	"knative.dev/pkg/apis/duck"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// The test of v1 is in the package of its types.
func TestTypes_OlderVersions_ImplementTheirDuckTypes(t *testing.T) {
	for name, duckType := range map[string]duck.Implementable{
		"Addressable": &duckv1.Addressable{},
		"Conditions":  &duckv1.Conditions{},
		"KResource":   &duckv1.KResource{},
	} {
		for _, version := range versions[:len(versions)-1] {
			t.Run(version.Name+" "+name, func(t *testing.T) {
				if err := duck.VerifyType(version.New(), duckType); err != nil {
					t.Error(err)
				}
			})
		}
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
