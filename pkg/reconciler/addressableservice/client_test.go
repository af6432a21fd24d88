/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package addressableservice

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
	fakesamples "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/fake"
	typedv1 "github.com/mallard-dev/mallard/pkg/client/clientset/versioned/typed/samples/v1"
	"github.com/mallard-dev/mallard/pkg/client/injection/client"
	"github.com/mallard-dev/mallard/pkg/freshness"
)

func withVersion(resourceVersion string) mod {
	return func(as *v1.AddressableService) { as.ResourceVersion = resourceVersion }
}

func TestWritesOfTheGeneratedReconcilerAreRecorded(t *testing.T) {
	for name, write := range map[string]func(typedv1.AddressableServiceInterface) error{
		"status": func(c typedv1.AddressableServiceInterface) error {
			_, err := c.UpdateStatus(t.Context(), object("a", withVersion("10")), metav1.UpdateOptions{})
			return err
		},
		"finalizer": func(c typedv1.AddressableServiceInterface) error {
			_, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":[]}}`), metav1.PatchOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			writes := freshness.NewWrites()
			ctx := context.WithValue(t.Context(), client.Key{}, fakesamples.NewSimpleClientset(object("a", withVersion("10"))))
			recording := client.Get(withRecordedWrites(ctx, writes)).SamplesV1().AddressableServices(ns)
			if _, err := recording.Get(t.Context(), "a", metav1.GetOptions{}); err != nil || writes.Behind(object("a", withVersion("9"))) {
				t.Fatalf("reading ends with %v, or is recorded", err)
			}
			if err := write(recording); err != nil {
				t.Fatal(err)
			}
			if !writes.Behind(object("a", withVersion("9"))) {
				t.Error("the write is not recorded")
			}
		})
	}
}
