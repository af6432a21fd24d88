/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/observability/metrics/k8s"
)

// noting is a reconciler that takes 5 ms for each key, and notes the order.
type noting struct {
	mu   sync.Mutex
	keys []string
}

func (n *noting) Reconcile(_ context.Context, key string) error {
	n.mu.Lock()
	n.keys = append(n.keys, key)
	n.mu.Unlock()
	time.Sleep(5 * time.Millisecond) //nolint:forbidigo // the bubble's clock
	return nil
}

// If this fails, docs/upstream/slow-lane.md is solved.
func TestQueue_SlowLane_DoesNotDelayItsKeys(t *testing.T) {
	const others = 500
	synctest.Test(t, func(t *testing.T) {
		r := &noting{}
		impl := controller.NewContext(t.Context(), r, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar(), Concurrency: 1})
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- impl.Run(ctx) }()
		for i := range others {
			impl.EnqueueSlowKey(types.NamespacedName{Namespace: ns, Name: strconv.Itoa(i)})
		}
		time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the bubble's clock
		impl.EnqueueKey(types.NamespacedName{Namespace: ns, Name: "urgent"})
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second) //nolint:forbidigo // the bubble's clock: the loop of the queue's metrics notices each second that it has ended
		if position := slices.Index(r.keys, ns+"/urgent"); position < others/2 {
			t.Errorf("the urgent key is reconciled after %d of %d others", position, others)
		}
	})
}

// If this fails, one half of docs/upstream/metrics-of-queues-and-clients.md is solved.
func TestUpstream_ClientMetrics_LackTheCode(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider, err := k8s.NewClientMetricProvider(k8s.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	if err != nil {
		t.Fatal(err)
	}
	provider.RequestResultMetric().Increment(t.Context(), "409", "GET", "host")
	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &metrics); err != nil {
		t.Fatal(err)
	}
	sum, ok := metrics.ScopeMetrics[0].Metrics[0].Data.(metricdata.Sum[int64])
	if !ok || len(sum.DataPoints) != 1 {
		t.Fatalf("the metrics are %+v", metrics.ScopeMetrics)
	}
	if code, found := sum.DataPoints[0].Attributes.Value("http.response.status_code"); found {
		t.Errorf("a response is counted with its code %s", code.String())
	}
}

// counting is a provider that counts requests for a metric.
type counting struct {
	workqueue.MetricsProvider

	unfinished map[string]int
}

func (c counting) NewDepthMetric(string) workqueue.GaugeMetric            { return gauge{} }
func (c counting) NewAddsMetric(string) workqueue.CounterMetric           { return gauge{} }
func (c counting) NewLatencyMetric(string) workqueue.HistogramMetric      { return gauge{} }
func (c counting) NewWorkDurationMetric(string) workqueue.HistogramMetric { return gauge{} }
func (c counting) NewRetriesMetric(string) workqueue.CounterMetric        { return gauge{} }

func (c counting) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	c.unfinished[name]++
	return gauge{}
}

type gauge struct{}

func (gauge) Inc()            {}
func (gauge) Dec()            {}
func (gauge) Set(float64)     {}
func (gauge) Observe(float64) {}

// provided is the provider of the process, which can be set only once, also if the tests run several times.
var provided = counting{unfinished: map[string]int{}}

// If this fails, the other half of that issue is solved.
func TestUpstream_Queue_RequestsTheMetricOfUnfinishedWorkTwice(t *testing.T) {
	controller.SetMetricsProvider(provided)
	before := provided.unfinished[t.Name()]
	impl := controller.NewContext(t.Context(), &noting{}, controller.ControllerOptions{WorkQueueName: t.Name(), Logger: zap.NewNop().Sugar()})
	defer impl.WorkQueue().ShutDown()
	if n := provided.unfinished[t.Name()] - before; n != 2 {
		t.Errorf("the queue requests the metric of unfinished work %d times", n)
	}
}
