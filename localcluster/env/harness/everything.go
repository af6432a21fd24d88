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
// two lists can be compared. Left out are those that come and go by themselves: events, and the control plane's own leases;
// and those of which the API server only warns that they are deprecated.
func Everything(ctx context.Context, config *rest.Config) ([]string, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for metadata: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client for discovery: %w", err)
	}
	lists, err := discoverer.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("asking which resources there are: %w", err)
	}
	var names []string
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("reading which resources there are: %w", err)
		}
		for i := range list.APIResources {
			resource := list.APIResources[i].Name
			if slices.Contains([]string{"events", "componentstatuses", "endpoints"}, resource) {
				continue
			}
			objects, err := client.Resource(version.WithResource(resource)).List(ctx, metav1.ListOptions{})
			if err != nil {
				return nil, fmt.Errorf("listing %s: %w", resource, err)
			}
			names = append(names, "resource "+resource+"."+version.String())
			for j := range objects.Items {
				object := &objects.Items[j]
				if resource == "leases" && strings.HasPrefix(object.Namespace, "kube-") {
					continue
				}
				names = append(names, strings.Join([]string{resource + "." + version.String(), object.Namespace, object.Name}, " "))
			}
		}
	}
	if len(names) == 0 {
		return nil, errors.New("the API server lists no resource")
	}
	slices.Sort(names)
	return names, nil
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
