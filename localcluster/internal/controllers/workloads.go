/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/statefulset"
)

// The back-off of a DaemonSet's failed Pods, as in kube-controller-manager.
const firstDaemonBackOff, lastDaemonBackOff = time.Second, 15 * time.Minute

// workloads are the controllers that make Pods, and that of disruption budgets, which watches over them.
func (m *Manager) workloads() map[string]constructor {
	return map[string]constructor{
		"cronjob-controller":     m.addCronJobs,
		"daemon-set-controller":  m.addDaemonSets,
		"deployment-controller":  m.addDeployments,
		"disruption-controller":  m.addDisruption,
		"job-controller":         m.addJobs,
		"replicaset-controller":  m.addReplicaSets,
		"statefulset-controller": m.addStatefulSets,
	}
}

func (m *Manager) addDeployments(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	apps := m.Informers.Apps().V1()
	c, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), m.Informers.Core().V1().Pods(), client)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addReplicaSets(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	c := replicaset.NewReplicaSetController(ctx, m.Informers.Apps().V1().ReplicaSets(), m.Informers.Core().V1().Pods(), client,
		replicaset.BurstReplicas)
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addStatefulSets(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	apps, core := m.Informers.Apps().V1(), m.Informers.Core().V1()
	c := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(),
		apps.ControllerRevisions(), client)
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addDaemonSets(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	apps, core := m.Informers.Apps().V1(), m.Informers.Core().V1()
	c, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), client,
		flowcontrol.NewBackOff(firstDaemonBackOff, lastDaemonBackOff))
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addJobs(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	c, err := newJobController(ctx, m.Informers.Core().V1().Pods(), m.Informers.Batch().V1().Jobs(), client)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addCronJobs(ctx context.Context, client kubernetes.Interface, _ *rest.Config) error {
	batch := m.Informers.Batch().V1()
	c, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), client)
	if err != nil {
		return fmt.Errorf("setting it up: %w", err)
	}
	m.run = append(m.run, func(ctx context.Context) { c.Run(ctx, workers) })
	return nil
}

func (m *Manager) addDisruption(ctx context.Context, client kubernetes.Interface, config *rest.Config) error {
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	scales, err := scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc,
		scale.NewDiscoveryScaleKindResolver(client.Discovery()))
	if err != nil {
		return fmt.Errorf("making its client of scales: %w", err)
	}
	apps, core := m.Informers.Apps().V1(), m.Informers.Core().V1()
	c := disruption.NewDisruptionController(ctx, core.Pods(), m.Informers.Policy().V1().PodDisruptionBudgets(),
		core.ReplicationControllers(), apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), client, mapper, scales,
		client.Discovery())
	m.run = append(m.run, c.Run)
	return nil
}
