/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package knative_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/conversion"
)

// The instruments exist since the import of the package, which is before the process has a meter provider.
func TestMetrics_MeterProviderIsSetLater_AllSeriesAreExported(t *testing.T) {
	meters := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(meters)))
	var object metav1.ObjectMeta
	conversion.Annotation{Name: annotation}.Load(&object, &metav1.ObjectMeta{Annotations: map[string]string{annotation: "{"}})

	var all metricdata.ResourceMetrics
	if err := meters.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		if scope.Scope.Name != "github.com/mallard-dev/mallard/conversion" {
			t.Errorf("the scope is %s", scope.Scope.Name)
		}
		for _, metric := range scope.Metrics {
			sum, ok := metric.Data.(metricdata.Sum[int64])
			if !ok || !sum.IsMonotonic || metric.Unit == "" || metric.Description == "" {
				t.Errorf("%s is no counter with a unit and a description", metric.Name)
			}
			got[metric.Name] = map[string]int64{}
			for _, point := range sum.DataPoints {
				part, _ := point.Attributes.Value("part")
				got[metric.Name][part.AsString()] = point.Value
			}
		}
	}
	want := map[string]map[string]int64{}
	for _, counter := range conversion.Counters() {
		want[counter.Name] = counter.Counts()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if got["conversion.bag.dropped"]["annotation"] == 0 {
		t.Error("the malformed annotation is not counted")
	}
}
