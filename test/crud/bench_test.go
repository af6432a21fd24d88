//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package crud

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// BenchmarkPlan runs 1,000 operations as one plan, and sends the same requests with client-go, each round one after the other on the same server.
// The metric plan/client-go is how many times as long the plan takes; it should not exceed 1.2. The metric heap-B/file-B is the live heap of the
// largest file for each of its bytes.
func BenchmarkPlan(b *testing.B) {
	env := harness.Shared(b)
	client, err := crud.New(env.Config, crud.Options{FieldManager: "crud-test"})
	if err != nil {
		b.Fatal(err)
	}
	var plan, raw time.Duration
	for b.Loop() {
		plan += timed(b, env, func(ctx context.Context, desired []*corev1.ConfigMap) error {
			var operations []crud.Operation
			for _, configMap := range desired {
				ref := crud.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: configMap.Namespace, Name: configMap.Name}
				operations = append(operations, crud.CreateOrUpdate(configMap), crud.MergePatch(ref, `{"data":{"k":"2"}}`))
			}
			_, err := client.RunPlan(ctx, crud.Plan{Operations: operations, SkipPreflight: true})
			return err
		})
		raw += timed(b, env, func(ctx context.Context, desired []*corev1.ConfigMap) error {
			for _, configMap := range desired {
				if err := upsertAndPatch(ctx, env.Dynamic.Resource(configMaps).Namespace(configMap.Namespace), configMap); err != nil {
					return err
				}
			}
			return nil
		})
	}
	b.ReportMetric(plan.Seconds()/float64(b.N)/1000, "s/operation")
	b.ReportMetric(plan.Seconds()/raw.Seconds(), "plan/client-go")
	heap, size := planHeap(b)
	b.ReportMetric(float64(heap)/float64(size), "heap-B/file-B")
}

// timed measures what is done with 500 ConfigMaps, each of which gets two operations.
func timed(b *testing.B, env *harness.Env, do func(context.Context, []*corev1.ConfigMap) error) time.Duration {
	b.Helper()
	b.StopTimer()
	defer b.StartTimer()
	namespace := env.Namespace(b)
	var desired []*corev1.ConfigMap
	for i := range 500 {
		desired = append(desired, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("a", i), Labels: map[string]string{"app": "a"}}, Data: map[string]string{"k": "1"},
		})
	}
	b.StartTimer()
	start := time.Now()
	if err := do(b.Context(), desired); err != nil {
		b.Fatal(err)
	}
	took := time.Since(start)
	b.StopTimer()
	// The next round begins without these.
	if err := env.Kube.CoreV1().ConfigMaps(namespace).DeleteCollection(b.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		b.Fatal(err)
	}
	return took
}

// upsertAndPatch sends the requests of the two operations.
func upsertAndPatch(ctx context.Context, objects dynamic.ResourceInterface, desired *corev1.ConfigMap) error {
	if _, err := objects.Get(ctx, desired.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("the object exists: %w", err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	strict := metav1.FieldValidationStrict
	if _, err := objects.Create(ctx, object, metav1.CreateOptions{FieldManager: "crud-test", FieldValidation: strict}); err != nil {
		return err
	}
	_, err = objects.Patch(ctx, desired.Name, types.MergePatchType, []byte(`{"data":{"k":"2"}}`),
		metav1.PatchOptions{FieldManager: "crud-test", FieldValidation: strict})
	return err
}
