/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/mallard-dev/mallard/crud/hook"
)

func snapshot(kind, namespace string, labels, spec map[string]any) hook.Snapshot {
	return hook.Snapshot{Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": map[string]string{"Service": "v1", "AddressableService": "samples.knative.dev/v1"}[kind], "kind": kind,
		"metadata": map[string]any{"namespace": namespace, "name": "it", "labels": labels, "resourceVersion": "1"}, "spec": spec,
	}}}
}

func TestCopyLabels_AddressableServiceDiffers_IsPatched(t *testing.T) {
	const name, instance, addressable = "app.kubernetes.io/name", "app.kubernetes.io/instance", "samples.knative.dev/addressable"
	toService := map[string]any{"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "name": "it"}}
	elsewhere := map[string]any{"ref": map[string]any{"apiVersion": "v1", "kind": "Service", "namespace": "other", "name": "it"}}
	toAnother := map[string]any{"ref": map[string]any{"apiVersion": "samples.knative.dev/v1", "kind": "AddressableService", "name": "it"}}
	labelled := map[string]any{addressable: "true", name: "web", instance: "web-1"}
	for test, tc := range map[string]struct {
		service, labels, spec map[string]any
		patched               bool
	}{
		"new":                        {labelled, map[string]any{addressable: "true"}, toService, true},
		"other value":                {labelled, map[string]any{addressable: "true", name: "old"}, toService, true},
		"equal":                      {labelled, map[string]any{addressable: "true", name: "web"}, toService, false},
		"more labels than Service":   {map[string]any{addressable: "true"}, map[string]any{addressable: "true", name: "web"}, toService, false},
		"no Service in the other ns": {labelled, map[string]any{addressable: "true"}, elsewhere, false},
		"refers to another kind":     {labelled, map[string]any{addressable: "true"}, toAnother, false},
	} {
		t.Run(test, func(t *testing.T) {
			run := &hook.Run{Contexts: []hook.Context{{Type: hook.TypeGroup, Snapshots: map[string][]hook.Snapshot{
				"services":            {snapshot("Service", "ns", tc.service, nil)},
				"addressableservices": {snapshot("AddressableService", "ns", tc.labels, tc.spec)},
			}}}}
			if err := copyLabels(t.Context(), run); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, op := range run.Plan.Operations {
				got = append(got, string(op.Type)+" "+op.Target().String())
				if err := op.Validate(); err != nil {
					t.Error(err)
				}
			}
			if want := []string{"FilterPatchOptimistic AddressableService ns/it"}; tc.patched != slices.Equal(got, want) || !tc.patched && got != nil {
				t.Errorf("the operations are %q", got)
			}
		})
	}
}

func TestCopyLabels_SnapshotOfAnotherShape_IsAnError(t *testing.T) {
	run := &hook.Run{Contexts: []hook.Context{{Snapshots: map[string][]hook.Snapshot{
		"addressableservices": {snapshot("AddressableService", "ns", nil, map[string]any{"ref": "text"})},
	}}}}
	if err := copyLabels(t.Context(), run); err == nil {
		t.Error("there is no error")
	}
}
