/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
)

// addressable returns the AddressableService of a Service.
func addressable(service *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "samples.knative.dev/v1",
		"kind":       "AddressableService",
		"metadata":   map[string]any{"namespace": service.GetNamespace(), "name": service.GetName()},
		"spec":       map[string]any{"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": service.GetName()}},
	}}
}

func ExampleFunc() {
	services := hook.Kubernetes{
		APIVersion:         "v1",
		Kind:               "Service",
		LabelSelector:      &metav1.LabelSelector{MatchLabels: map[string]string{"samples.knative.dev/addressable": "true"}},
		ExecuteHookOnEvent: []hook.WatchEvent{hook.Added},
	}
	h := hook.Func("addressableservices", hook.Bindings{Kubernetes: []hook.Kubernetes{services}}, func(_ context.Context, run *hook.Run) error {
		for service := range run.Objects() {
			run.Add(crud.CreateIfNotExists(addressable(service)))
		}
		return nil
	})
	newController, err := hook.NewController(hook.Options{}, h)
	fmt.Println(newController != nil, err) // pass it to process.Process.Controllers
	// Output: true <nil>
}
