//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"strings"
	"testing"
	"time"
)

// TestMeasure_FewObjects_CountsAreExact shows that the measurement of make bench-peer works, with the operator alone.
func TestMeasure_FewObjects_CountsAreExact(t *testing.T) {
	const objects = 20
	got := map[string]float64{}
	for _, f := range ours.measure(t, objects, time.Second) {
		got[f.name] = f.value
	}
	for name, want := range map[string]float64{
		"requests per object: update addressableservices/status": 1, "conflicts per object": 0, "log lines of the webhook per object": 0,
		"writes after a restart, except for the new object": 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s: %v, want %v", name, value, want)
		}
	}
	for _, name := range []string{
		"objects per second to Ready", "rate to Ready, divided by that of clients", "CPU, ms per object: " + controlPlane,
		"memory, MiB: " + controllerName, "memory after a restart, MiB: " + controllerName, "seconds from a restart to Ready of a new object",
	} {
		if got[name] <= 0 {
			t.Errorf("%s: %v, want more than 0", name, got[name])
		}
	}
	if median, most := got["seconds from create to Ready, median"], got["seconds from create to Ready, 99th percentile"]; median <= 0 || median > most {
		t.Errorf("the median of the latencies is %v, their 99th percentile %v", median, most)
	}
	if t.Failed() {
		t.Log(got)
	}
}

// BenchmarkOperator reports the figures of the operator with 1,000 objects. make bench-peer compares them with those of others.
func BenchmarkOperator(b *testing.B) {
	for b.Loop() {
		for _, f := range ours.measure(b, 1000, time.Second) {
			b.ReportMetric(f.value, strings.NewReplacer(", ", ":", ": ", ":", " ", "-").Replace(f.name))
		}
	}
}
