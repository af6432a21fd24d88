/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/test/harness"
)

// benched is how many objects one round makes.
const benched = 200

// BenchmarkReady compares what the operator needs until new objects are Ready with
// what one client needs that creates as many objects and writes their status
// itself, on the same server, each round one after the other. The metric ready/raw
// says how much slower (above 1) or faster the operator is. The etcd of the local
// control plane does not wait for the disk.
func BenchmarkReady(b *testing.B) {
	env := harness.Shared(b)
	var raw, ready time.Duration
	for b.Loop() {
		ns := env.Namespace(b)
		start := time.Now()
		made := create(b, env, ns, benched, "raw")
		client := env.Samples.SamplesV1().AddressableServices(ns)
		for _, as := range made {
			as.Status.MarkTargetResolved([]duckv1.Addressable{{}})
			as.Status.MarkNotRequested()
			if _, err := client.UpdateStatus(b.Context(), as, metav1.UpdateOptions{}); err != nil {
				b.Fatalf("writing a status: %v", err)
			}
		}
		raw += time.Since(start)

		ns = env.Namespace(b)
		createTarget(b, env, ns)
		start = time.Now()
		create(b, env, ns, benched, "")
		awaitAllReady(b, env, ns, benched)
		ready += time.Since(start)
	}
	b.ReportMetric(ready.Seconds()/raw.Seconds(), "ready/raw")
}
