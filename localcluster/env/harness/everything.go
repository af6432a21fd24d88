/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// Everything lists, sorted, the names of all objects of all resources that can be listed, and of the resources, so that
// two lists can be compared. Left out are those that come and go by themselves: events, and the control plane's own leases.
func Everything(ctx context.Context, config *rest.Config) ([]string, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for metadata: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for discovery: %w", err)
	}
	all, err := resources(discoverer, "list")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, gvr := range all {
		if gvr.Resource == "events" {
			continue
		}
		objects, err := client.Resource(gvr).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", gvr.Resource, err)
		}
		resource := gvr.Resource + "." + gvr.GroupVersion().String()
		names = append(names, "resource "+resource)
		for i := range objects.Items {
			object := &objects.Items[i]
			if gvr.Resource == "leases" && strings.HasPrefix(object.Namespace, "kube-") {
				continue
			}
			names = append(names, strings.Join([]string{resource, object.Namespace, object.Name}, " "))
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the API server lists no resource")
	}
	slices.Sort(names)
	return names, nil
}

// resources returns the resources with these verbs, each at one version, except those of which the API server only warns that they are deprecated. With
// an error it returns those that it knows.
func resources(client discovery.DiscoveryInterface, verbs ...string) (all []schema.GroupVersionResource, err error) {
	lists, err := client.ServerPreferredResources()
	if err != nil {
		err = fmt.Errorf("listing the resources: %w", err)
	}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: verbs}, lists) {
		version, _ := schema.ParseGroupVersion(list.GroupVersion) // the API server formats it
		for i := range list.APIResources {
			if name := list.APIResources[i].Name; name != "componentstatuses" && name != "endpoints" {
				all = append(all, version.WithResource(name))
			}
		}
	}
	return all, err
}

// Remember lists Everything, and returns a function that waits until the list is the same again.
func (e *Env) Remember(t testing.TB) (awaitRestored func()) {
	t.Helper()
	before, err := Everything(t.Context(), e.Config)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		Eventually(t, "the control plane is as it was", func(ctx context.Context) error {
			after, err := Everything(ctx, e.Config)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(before, after); diff != "" {
				return fmt.Errorf("before (-) and after (+) differ:\n%s", diff)
			}
			return nil
		})
	}
}
