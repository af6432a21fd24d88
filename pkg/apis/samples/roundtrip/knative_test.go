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

// What knative.dev/pkg expects of types that its webhook converts is what its own test expects.
func TestKnativesOwnRoundTrip(t *testing.T) {
	scheme, hubs := runtime.NewScheme(), runtime.NewScheme()
	for _, err := range []error{v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme), v1.AddToScheme(scheme), v1.AddToScheme(hubs)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	knativeroundtrip.ExternalTypesViaHub(t, scheme, hubs, knativefuzzer.Funcs)
}
