/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

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
	ours := &metav1.LabelSelector{MatchLabels: map[string]string{"samples.knative.dev/addressable": "true"}}
	// Each run has the objects of both bindings. The jq programs keep changes of a status from causing one.
	return hook.Func("addressableservice-labels", hook.Bindings{Kubernetes: []hook.Kubernetes{{
		Common:     hook.Common{Name: "services", Group: "labels"},
		APIVersion: "v1", Kind: "Service", LabelSelector: ours, JQFilter: ".metadata.labels",
	}, {
		Common:     hook.Common{Name: "addressableservices", Group: "labels"},
		APIVersion: "samples.knative.dev/v1", Kind: "AddressableService", LabelSelector: ours, JQFilter: "[.metadata.labels, .spec.ref]",
	}}}, copyLabels)
}

func copyLabels(_ context.Context, run *hook.Run) error {
	labels := map[types.NamespacedName]map[string]string{}
	for service, err := range hook.As[corev1.Service](run.Snapshots("services")) {
		if err != nil {
			return err
		}
		maps.DeleteFunc(service.Labels, func(key, _ string) bool { return !slices.Contains(copied, key) })
		labels[types.NamespacedName{Namespace: service.Namespace, Name: service.Name}] = service.Labels
	}
	for as, err := range hook.As[v1.AddressableService](run.Snapshots("addressableservices")) {
		if err != nil {
			return err
		}
		ref := as.Spec.Ref
		desired := labels[types.NamespacedName{Namespace: cmp.Or(ref.Namespace, as.Namespace), Name: ref.Name}]
		differs := func(key string) bool { value, has := desired[key]; return has && as.Labels[key] != value }
		if ref.APIVersion != "v1" || ref.Kind != "Service" || !slices.ContainsFunc(copied, differs) {
			continue
		}
		// If the AddressableService has changed since, the hook runs again with its new state.
		run.Add(crud.FilterPatchOptimistic(as, func(as *v1.AddressableService) error {
			maps.Copy(as.Labels, desired)
			return nil
		}))
	}
	return nil
}
