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

	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

const (
	// The rest of the defaults of kube-controller-manager.
	quotaResync = 5 * time.Minute
	quotaSync   = 30 * time.Second
)

// addResourceQuotas counts what namespaces use. Without it, a quota rejects everything that it names: admission relies
// on the status that only this controller fills in.
func (m *Manager) addResourceQuotas(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	configuration, err := newQuotaConfiguration(generic.ListerFuncForResourceFunc(m.Informers.ForResource), m.Informers)
	if err != nil {
		return fmt.Errorf("finding out what is counted: %w", err)
	}
	discover := client.Discovery().ServerPreferredNamespacedResources
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               client.CoreV1(),
		ResourceQuotaInformer:     m.Informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              controller.StaticResyncPeriodFunc(quotaResync),
		Registry:                  generic.NewRegistry(configuration.Evaluators()),
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      configuration.IgnoredResources,
		InformersStarted:          m.started,
		InformerFactory:           m.objectInformers(),
		ReplenishmentResyncPeriod: controller.StaticResyncPeriodFunc(informerResync),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) {
		var wg sync.WaitGroup
		wg.Go(func() { c.Run(ctx, workers) })
		wg.Go(func() { c.Sync(ctx, discover, quotaSync) })
		wg.Wait()
	})
	return nil
}
