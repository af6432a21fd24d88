/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package roundtrip

import (
	"encoding/json"
	"testing"

	"example.com/clusterapi/v1beta1"
	"example.com/clusterapi/v1beta2"
)

// A client of v1beta1 changes what it sees, and the annotation stays as former conversions wrote it.
func TestFormer_ClientChangesTheObject_ChangesStand(t *testing.T) {
	for _, test := range []struct{ spec, version string }{
		{`{"clusterName":"c","bootstrap":{},"infrastructureRef":{},"version":"v1.34.0"}`, "v1.34.0"},
		{`{"clusterName":"c","bootstrap":{},"infrastructureRef":{},"version":"v1.35.0"}`, "v1.35.0"},
		{`{"clusterName":"c","bootstrap":{},"infrastructureRef":{}}`, ""},
	} {
		text := `{"metadata":{"name":"m","annotations":{"cluster.x-k8s.io/conversion-data":
			"{\"spec\":{\"clusterName\":\"c\",\"version\":\"v1.34.0\",\"minReadySeconds\":5}}"}},"spec":` + test.spec + `}`
		var stored v1beta1.Machine
		if err := json.Unmarshal([]byte(text), &stored); err != nil {
			t.Fatal(err)
		}
		var hub v1beta2.Machine
		if err := conversionOfMachine().Converters[0](t.Context(), &stored, &hub); err != nil {
			t.Fatal(err)
		}
		if seconds := hub.Spec.MinReadySeconds; seconds == nil || *seconds != 5 || hub.Spec.Version != test.version || hub.Annotations != nil {
			t.Errorf("%s is read with the version %q, the seconds %v and the annotations %v", test.spec, hub.Spec.Version, seconds, hub.Annotations)
		}
	}
}
