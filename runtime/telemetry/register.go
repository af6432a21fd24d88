/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"fmt"
	"sync"

	clientmetrics "k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/observability/metrics/k8s"
)

// queues is what knative's queues are measured by.
var queues queueProvider

// Register installs the metrics of work queues and clients. It has to be called
// before sharedmain, which registers what is partly wrong: the first to register wins.
// A second call changes nothing.
func Register() error { return register() }

var register = sync.OnceValue(func() error {
	metrics, err := k8s.NewWorkqueueMetricsProvider()
	if err != nil {
		return fmt.Errorf("making the metrics of work queues: %w", err)
	}
	clients, err := k8s.NewClientMetricProvider()
	if err != nil {
		return fmt.Errorf("making the metrics of clients: %w", err)
	}
	answers, err := newAnswers()
	if err != nil {
		return err
	}
	queues.MetricsProvider = metrics
	workqueue.SetProvider(metrics)
	controller.SetMetricsProvider(&queues)
	clientmetrics.Register(clientmetrics.RegisterOpts{RequestLatency: clients.RequestLatencyMetric(), RequestResult: answers})
	return nil
})

// queueProvider is for the queues of knative.dev/pkg/controller. Each asks for the metric of unfinished work twice, and
// writes the age of its longest running worker into the second one: both then show that age, and
// nothing shows the other. This gives every queue the right one at the second time.
type queueProvider struct {
	workqueue.MetricsProvider

	mu sync.Mutex
	// half holds the names of the queues that have asked once.
	half map[string]bool
}

// NewUnfinishedWorkSecondsMetric implements workqueue.MetricsProvider.
func (p *queueProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.half[name] {
		delete(p.half, name)
		return p.NewLongestRunningProcessorSecondsMetric(name)
	}
	if p.half == nil {
		p.half = map[string]bool{}
	}
	p.half[name] = true
	return p.MetricsProvider.NewUnfinishedWorkSecondsMetric(name)
}
