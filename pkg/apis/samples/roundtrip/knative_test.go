/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	knativefuzzer "knative.dev/pkg/apis/testing/fuzzer"
	knativeroundtrip "knative.dev/pkg/apis/testing/roundtrip"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1alpha1"
	"github.com/mallard-dev/mallard/pkg/apis/samples/v1beta1"
)

// What knative.dev/pkg expects of types that its webhook converts is what its own test expects. Kinds of one version are not
// converted.
func TestConvert_KnativeRoundTripTest_Passes(t *testing.T) {
	scheme, hubs := runtime.NewScheme(), runtime.NewScheme()
	scheme.AddKnownTypes(v1alpha1.SchemeGroupVersion, &v1alpha1.AddressableService{})
	scheme.AddKnownTypes(v1beta1.SchemeGroupVersion, &v1beta1.AddressableService{})
	scheme.AddKnownTypes(v1.SchemeGroupVersion, &v1.AddressableService{})
	hubs.AddKnownTypes(v1.SchemeGroupVersion, &v1.AddressableService{})
	knativeroundtrip.ExternalTypesViaHub(t, scheme, hubs, knativefuzzer.Funcs)
}
