/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/hook"
	v1 "github.com/mallard-dev/mallard/pkg/apis/samples/v1"
)

// copied are the labels that an AddressableService gets from its Service. Those that name the tool to which an object belongs are not among them:
// Argo CD, for example, deletes an object that has the label app.kubernetes.io/instance of an application of which it is not part.
var copied = []string{"app.kubernetes.io/name", "app.kubernetes.io/component", "app.kubernetes.io/part-of", "app.kubernetes.io/version"}

// labelsOfServices returns a hook that keeps labels of AddressableServices as those of their Services, so that a selector finds both.
// It considers objects with the label samples.knative.dev/addressable=true, which the hook addressableservices.sh sets, too.
func labelsOfServices() *hook.Hook {
	// Each run has the objects of both bindings. The jq programs keep changes of a status from causing one.
	binding := func(name, apiVersion, kind, jqFilter string) hook.Kubernetes {
		return hook.Kubernetes{
			Common: hook.Common{Name: name, Group: "labels"}, APIVersion: apiVersion, Kind: kind, JQFilter: jqFilter,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"samples.knative.dev/addressable": "true"}},
		}
	}
	return hook.Func("addressableservice-labels", hook.Bindings{Kubernetes: []hook.Kubernetes{
		binding("services", "v1", "Service", ".metadata.labels"),
		binding("addressableservices", "samples.knative.dev/v1", "AddressableService", "[.metadata.labels, .spec.ref]"),
	}}, copyLabels)
}

func copyLabels(_ context.Context, run *hook.Run) error {
	labels := map[string]map[string]string{}
	for service := range run.Snapshots("services") {
		labels[service.GetNamespace()+"/"+service.GetName()] = service.GetLabels()
	}
	for as, err := range hook.As[v1.AddressableService](run.Snapshots("addressableservices")) {
		if err != nil {
			return err
		}
		ref := as.Spec.Ref
		desired := labels[cmp.Or(ref.Namespace, as.Namespace)+"/"+ref.Name]
		differs := slices.DeleteFunc(slices.Clone(copied), func(key string) bool { return desired[key] == "" || desired[key] == as.Labels[key] })
		if ref.APIVersion != "v1" || ref.Kind != "Service" || len(differs) == 0 {
			continue
		}
		// If the AddressableService has changed since, the hook runs again with its new state.
		run.Add(crud.FilterPatchOptimistic(as, func(as *v1.AddressableService) error {
			for _, key := range differs {
				as.Labels[key] = desired[key]
			}
			return nil
		}))
	}
	return nil
}
