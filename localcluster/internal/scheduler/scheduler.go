/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package scheduler

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerconfig "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const (
	// User is the user name of the scheduler, as in a real cluster.
	User = "system:kube-scheduler"

	pluginName = "LocalImage"
)

// Allowed returns an error if a Pod must not be placed on a Node.
type Allowed func(pod *corev1.Pod, node string) (reason string, ok bool)

// Scheduler is a scheduler that has not been started yet.
type Scheduler struct {
	scheduler *scheduler.Scheduler
	informers informers.SharedInformerFactory
	events    events.EventBroadcaster
}

// New makes a scheduler that keeps to the rule. The context must not end before that of Run.
func New(ctx context.Context, config *rest.Config, allowed Allowed) (*Scheduler, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the scheduler's client: %w", err)
	}
	settings, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("reading the scheduler's defaults: %w", err)
	}
	for i := range settings.Profiles {
		enabled := &settings.Profiles[i].Plugins.MultiPoint.Enabled
		*enabled = append(*enabled, schedulerconfig.Plugin{Name: pluginName})
	}
	s := &Scheduler{
		informers: scheduler.NewInformerFactory(client, 0),
		events:    events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()}),
	}
	registry := frameworkruntime.Registry{
		pluginName: func(context.Context, runtime.Object, frameworkHandle) (frameworkPlugin, error) {
			return plugin{allowed: allowed}, nil
		},
	}
	s.scheduler, err = scheduler.New(ctx, client, s.informers, nil, profile.NewRecorderFactory(s.events),
		scheduler.WithProfiles(settings.Profiles...), scheduler.WithFrameworkOutOfTreeRegistry(registry),
		scheduler.WithKubeConfig(config))
	if err != nil {
		return nil, fmt.Errorf("making the scheduler: %w", err)
	}
	return s, nil
}

// Run schedules until the context ends.
func (s *Scheduler) Run(ctx context.Context) {
	s.events.StartRecordingToSink(ctx.Done())
	defer s.events.Shutdown()
	s.informers.Start(ctx.Done())
	s.informers.WaitForCacheSync(ctx.Done())
	if s.scheduler.WaitForHandlersSync(ctx) != nil {
		// Only the end of the context ends the wait.
		return
	}
	s.scheduler.Run(ctx)
}

// plugin is the rule.
type plugin struct{ allowed Allowed }

// Name returns the name of the plugin in the scheduler's settings and events.
func (plugin) Name() string { return pluginName }

// Filter rejects a Node on which the Pod must not be placed. No later event changes that.
func (p plugin) Filter(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo) *fwk.Status {
	if reason, ok := p.allowed(pod, node.Node().Name); !ok {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, reason)
	}
	return nil
}
