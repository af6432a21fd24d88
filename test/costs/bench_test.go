//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	duckv1 "knative.dev/pkg/apis/duck/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/fixtures"
)

// benched is the number of objects that one round creates.
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
		client := fixtures.Client(env).SamplesV1().AddressableServices(ns)
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

// BenchmarkMemory creates 2,000 objects. The metrics are the resident memory of the controller: MiB without objects, and once all are Ready, and once
// a controller that was restarted has reconciled them, as multiples of that.
func BenchmarkMemory(b *testing.B) {
	const objects = 2000
	env := harness.Own(b, harness.WithReplicas("controller", 1))
	resident := func() float64 {
		return env.Process(b, "controller").Metrics(b)["process_resident_memory_bytes"].GetMetric()[0].GetGauge().GetValue() / (1 << 20)
	}
	for b.Loop() {
		empty := resident()
		b.ReportMetric(empty, "MiB")
		ns := env.Namespace(b)
		createTarget(b, env, ns)
		create(b, env, ns, objects, "")
		awaitAllReady(b, env, ns, objects)
		b.ReportMetric(resident()/empty, "ready/empty")
		env.Process(b, "controller").Restart(b)
		harness.Eventually(b, "the controller has reconciled all objects", func(context.Context) error {
			if n := reconciled(b, env); n < objects {
				return fmt.Errorf("it has reconciled %v", n)
			}
			return nil
		})
		b.ReportMetric(resident()/empty, "restarted/empty")
	}
}

// reconciled returns the number of reconciliations since the start of the controller.
func reconciled(b *testing.B, env *harness.Env) float64 {
	b.Helper()
	return fixtures.QueueCount(b, env.Process(b, "controller"), "kn_workqueue_process_duration_seconds", "AddressableService")
}
