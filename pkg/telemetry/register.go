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

// Register makes work queues and clients tell what they should. It has to be called
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
