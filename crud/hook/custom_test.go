/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"fmt"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// reader has the metrics of the package. Its instruments accept a single provider.
var reader = sync.OnceValue(func() sdkmetric.Reader {
	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	return reader
})

// gathered returns the number of series by the names of metrics.
func gathered(t *testing.T) map[string]int {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader().Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[float64]:
				found[m.Name] += len(data.DataPoints)
			case metricdata.Gauge[float64]:
				found[m.Name] += len(data.DataPoints)
			case metricdata.Histogram[float64]:
				found[m.Name] += len(data.DataPoints)
			}
		}
	}
	return found
}

func apply(t *testing.T, c *customMetrics, isOver bool, content string) {
	t.Helper()
	reader() // what is recorded before is lost
	lines, err := parseMetrics([]byte(content), "")
	if err == nil {
		err = c.apply("it", lines, func() bool { return isOver })
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A process that does not lead anymore has no value of a hook, also if a run ends later.
func TestCustomMetrics_EndOfTheTerm_RemovesValues(t *testing.T) {
	c := newCustomMetrics(t.Context())
	const content = `{"name":"term_gauge","set":1} {"name":"term_counter","add":1} {"name":"term_histogram","action":"observe","value":1,"buckets":[1]}`
	apply(t, c, false, content)
	if got := gathered(t); got["term_gauge"] != 1 || got["term_counter"] != 1 || got["term_histogram"] != 1 {
		t.Errorf("there are %v", got)
	}
	c.reset()
	apply(t, c, true, content+`{"name":"term_late","set":1}`)
	if got := gathered(t); got["term_gauge"] != 0 || got["term_counter"] != 0 || got["term_late"] != 0 {
		t.Errorf("after the term, there are %v", got)
	}
	apply(t, c, false, content+`{"name":"term_late","set":1}`)
	if got := gathered(t); got["term_gauge"] != 1 || got["term_counter"] != 1 || got["term_late"] != 1 {
		t.Errorf("in the next term, there are %v", got)
	}
}

// A metric is created while others are read.
func TestCustomMetrics_CreatedDuringACollection_AreNotBlocked(t *testing.T) {
	c := newCustomMetrics(t.Context())
	apply(t, c, false, `{"name":"collected_0","set":1}`)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				gathered(t)
			}
		}
	}()
	for i := range mostMetrics - 1 {
		apply(t, c, false, fmt.Sprintf(`{"name":"collected_%d","set":1}`, i+1))
	}
	close(stop)
	<-ended
	found := gathered(t)
	for i := range mostMetrics {
		if name := fmt.Sprintf("collected_%d", i); found[name] != 1 {
			t.Errorf("metric %s has %d series", name, found[name])
		}
	}
}
