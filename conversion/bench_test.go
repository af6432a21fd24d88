/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package conversion_test

import (
	"encoding/json"
	"testing"
	"time"
)

// The bounds of a conversion: the allocations per object and step, with everything stashed, and its time relative to marshaling and unmarshaling the
// object, which the webhook also does. Most of both is for the annotation, which encoding/json writes and reads; what an object without one may cost
// is in package conversiontest.
const (
	maxAllocations = 650
	maxTimes       = 6
	// warm is from how many rounds on the time means something.
	warm = 100
)

// plain is an object that v1alpha1 shows completely.
func plain() *widget {
	hub := full()
	hub.Spec.Ref.Kind = "Service"
	hub.Spec.Path = new("/p")
	for key := range hub.Spec.Headers {
		hub.Spec.Headers[key] = header{Value: "v"}
	}
	for i := range hub.Spec.Rewrites {
		hub.Spec.Rewrites[i].Code = nil
	}
	for i := range hub.Spec.Ports {
		hub.Spec.Ports[i].AppProtocol, hub.Spec.Ports[i].Port = nil, new(int32(80))
	}
	hub.Spec.Retries.Backoff = nil
	hub.Spec.Probe = nil
	return hub
}

// hop is one conversion, and the same object's JSON to compare it with.
type hop struct{ convert, marshal func() }

func hops(t testing.TB) map[string]hop {
	t.Helper()
	hub, bare := full(), plain()
	old, bareOld := shown(t, hub), shown(t, bare)
	return map[string]hop{
		"down, everything stashed": {func() { shown(t, hub) }, func() { throughJSON(t, hub) }},
		"up, everything stashed":   {func() { stored(t, old) }, func() { throughJSON(t, old) }},
		"down, nothing stashed":    {func() { shown(t, bare) }, func() { throughJSON(t, bare) }},
		"up, nothing stashed":      {func() { stored(t, bareOld) }, func() { throughJSON(t, bareOld) }},
	}
}

func throughJSON[T any](t testing.TB, object *T) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, new(T)); err != nil {
		t.Fatal(err)
	}
}

func TestConvert_OneStep_MakesFewAllocations(t *testing.T) {
	for name, hop := range hops(t) {
		const runs = 100
		if got := testing.AllocsPerRun(runs, hop.convert); got > maxAllocations {
			t.Errorf("%s: %v allocations, want at most %d", name, got, maxAllocations)
		}
	}
}

// BenchmarkHop also reports the time of a step relative to that of JSON. Both take turns, so that a busy machine slows down both.
func BenchmarkHop(b *testing.B) {
	for name, hop := range hops(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var marshaling time.Duration
			for b.Loop() {
				hop.convert()
				b.StopTimer()
				begin := time.Now()
				hop.marshal()
				marshaling += time.Since(begin)
				b.StartTimer()
			}
			times := b.Elapsed().Seconds() / marshaling.Seconds()
			b.ReportMetric(times, "times-json")
			if b.N > warm && times > maxTimes {
				b.Errorf("a hop takes %.1f times as long as JSON, want at most %d", times, maxTimes)
			}
		})
	}
}
