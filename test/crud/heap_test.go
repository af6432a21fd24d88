//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace/noop"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// TestPlan_ManyOperations_NeedMemoryInProportionToTheFile is not parallel, since it measures the heap of the process.
func TestPlan_ManyOperations_NeedMemoryInProportionToTheFile(t *testing.T) {
	const perByte, fixed = 25, 4 << 20
	heap, size := planHeap(t)
	t.Logf("a file of %d bytes needs %d bytes, %.1f for each", size, heap, float64(heap)/float64(size))
	if limit := perByte*size + fixed; heap > limit {
		t.Errorf("the heap grew by %d bytes for a file of %d bytes, want at most %d", heap, size, limit)
	}
}

// planHeap runs the largest file that the parser accepts, and returns how much live heap it needs, and its size. The objects are large, so that
// a plan that keeps them needs several times as much.
func planHeap(t testing.TB) (heap, size int) {
	t.Helper()
	provider := otel.GetTracerProvider()
	otel.SetTracerProvider(noop.NewTracerProvider()) // the recorder keeps all spans
	t.Cleanup(func() { otel.SetTracerProvider(provider) })
	env := harness.Shared(t)
	namespace := env.Namespace(t)
	client, err := crud.New(env.Config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		t.Fatal(err)
	}
	const objects = 10
	for i := range objects {
		if _, err := env.Kube.CoreV1().ConfigMaps(namespace).Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", i)}, Data: map[string]string{"k": "1", "large": strings.Repeat("x", 8<<10)},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	before := liveHeap()
	file := manyOperations(namespace, objects)
	parsed, err := operations.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed.Done = func(number int, _ crud.Result, _ error) {
		if number%250 == 0 {
			heap = max(heap, liveHeap()-before)
		}
	}
	results, err := client.RunPlan(t.Context(), parsed.Plan)
	if err != nil {
		t.Fatal(err)
	}
	report := parsed.Report(results, err)
	heap = max(heap, liveHeap()-before)
	if last := report.Operations[operations.MostOperations-1]; report.State != operations.Done || last.Name != fmt.Sprint("a", objects-1) {
		t.Fatalf("the state is %s, and the last operation is %v", report.State, last)
	}
	runtime.KeepAlive(file)
	runtime.KeepAlive(parsed)
	runtime.KeepAlive(results)
	return heap, len(file)
}

// manyOperations returns a file of operations that find the objects as desired, with one request each.
func manyOperations(namespace string, objects int) []byte {
	var file bytes.Buffer
	for i := range operations.MostOperations / 2 {
		name := fmt.Sprint("a", i%objects)
		fmt.Fprintf(&file, `{"operationType": "CreateOrUpdate", "spec": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": %[1]q, "name": %[2]q}, "data": {"k": "1"}}}
{"operationType": "MergePatch", "kind": "ConfigMap", "namespace": %[1]q, "name": %[2]q, "spec": {"data": {"k": "1"}}}
`, namespace, name)
	}
	return file.Bytes()
}

// liveHeap returns the size of the heap after a garbage collection.
func liveHeap() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}
