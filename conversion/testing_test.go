/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"encoding/json"
	"os"
	"testing"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

var meters = sdkmetric.NewManualReader()

func TestMain(m *testing.M) {
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(meters)))
	os.Exit(m.Run())
}

// counted is how much a counter has counted so far, altogether or with this value of its attribute.
func counted(t testing.TB, name, what string) int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := meters.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name != name {
				continue
			}
			for _, point := range metric.Data.(metricdata.Sum[int64]).DataPoints {
				if value, ok := point.Attributes.Value("what"); !ok || what == "" || value.AsString() == what {
					sum += point.Value
				}
			}
		}
	}
	return sum
}

// expectCounted checks how much a counter counts meanwhile.
func expectCounted(t testing.TB, name, what string, want int64, meanwhile func()) {
	t.Helper()
	before := counted(t, name, what)
	meanwhile()
	if got := counted(t, name, what) - before; got != want {
		t.Errorf("%s %s rose by %d, want %d", name, what, got, want)
	}
}

// shown is a hub object as v1alpha1 shows it.
func shown(t testing.TB, hub *widget) *oldWidget {
	t.Helper()
	var old oldWidget
	if err := hub.ConvertTo(t.Context(), &old); err != nil {
		t.Fatalf("showing at v1alpha1: %v", err)
	}
	return &old
}

// stored is an object of v1alpha1 as the hub stores it.
func stored(t testing.TB, old *oldWidget) *widget {
	t.Helper()
	var hub widget
	if err := hub.ConvertFrom(t.Context(), old); err != nil {
		t.Fatalf("storing at v1: %v", err)
	}
	return &hub
}

func jsonOf(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded[T any](t testing.TB, text string) *T {
	t.Helper()
	object := new(T)
	if err := json.Unmarshal([]byte(text), object); err != nil {
		t.Fatal(err)
	}
	return object
}

func expectJSON(t testing.TB, got, want any) {
	t.Helper()
	if g, w := jsonOf(t, got), jsonOf(t, want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}
