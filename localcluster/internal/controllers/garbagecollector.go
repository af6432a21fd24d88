/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// gcSync is the interval at which the collector discovers kinds, so the time until it takes care of the objects of a new
// CustomResourceDefinition. A real cluster has 30 seconds; here definitions come and go with each test.
const gcSync = 2 * time.Second

func (m *Manager) addGarbageCollector(ctx context.Context, client kubernetes.Interface, config *rest.Config) error {
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making its metadata client: %w", err)
	}
	ignored := map[schema.GroupResource]struct{}{}
	for resource := range garbagecollector.DefaultIgnoredResources() {
		ignored[resource] = struct{}{}
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	graph := garbagecollector.NewDependencyGraphBuilder(ctx, metadataClient, mapper, ignored, m.objectInformers(), m.started)
	gc, err := garbagecollector.NewComposedGarbageCollector(ctx, client, metadataClient, mapper, graph)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) {
		var wg sync.WaitGroup
		wg.Go(func() { gc.Run(ctx, gcWorkers, gcSync) })
		wg.Go(func() { gc.Sync(ctx, client.Discovery(), gcSync) })
		wg.Wait()
	})
	return nil
}
