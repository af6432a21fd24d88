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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// No other test can share the control plane: the controllers of Kubernetes delete no namespace while a group of kinds is unknown.
func TestT32_Kind_AggregatedAPIIsBroken_OnlyItsKindsAreUnavailable(t *testing.T) {
	env := harness.Own(t, harness.Bare())
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	env.Apply(t, "", `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.broken.example.com}
spec: {group: broken.example.com, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {namespace: default, name: absent}}
`)
	newClient := func() *crud.Client {
		client, err := crud.New(env.Config, crud.Options{FieldManager: "crud-test"})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	ref := func(apiVersion, kind string) crud.Ref {
		return crud.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "default", Name: "a"}
	}
	var client *crud.Client
	harness.Eventually(t, "discovery reports the broken API", func(ctx context.Context) error {
		client = newClient()
		_, err := client.Run(ctx, crud.EnsureDeleted(ref("", "Nonsense")))
		if crud.ClassOf(err) != crud.DiscoveryUnavailable {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
	for op, want := range map[crud.Ref]crud.Class{
		ref("broken.example.com/v1", "Nonsense"): crud.DiscoveryUnavailable,
		ref("v1", "Nonsense"):                    crud.KindUnknown,
		ref("", "ConfigMap"):                     "",
		ref("", "deploy"):                        "",
	} {
		if result, err := client.Run(t.Context(), crud.EnsureDeleted(op)); crud.ClassOf(err) != want {
			t.Errorf("%s %s: %v (%s)", op.APIVersion, op.Kind, err, result.Outcome)
		}
	}
	if err := env.Dynamic.Resource(services).Delete(t.Context(), "v1.broken.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, "the same client finds out that no API is broken", func(ctx context.Context) error {
		if _, err := client.Run(ctx, crud.EnsureDeleted(ref("", "Nonsense"))); crud.ClassOf(err) != crud.KindUnknown {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
}
