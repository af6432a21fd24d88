/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"knative.dev/pkg/controller"
	logtesting "knative.dev/pkg/logging/testing"
	"knative.dev/pkg/reconciler"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
	metering "github.com/mallard-dev/mallard/test/measured"
)

// The providers of OpenTelemetry are set once per process, so tests find their own data by the names that they use.
var (
	reader = sdkmetric.NewManualReader()
	spans  = tracetest.NewSpanRecorder()
)

func TestMain(m *testing.M) {
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)))
	os.Exit(m.Run())
}

type attributes map[attribute.Key]string

// measured returns the sum of the data points of a metric that have these attributes, among others.
func measured(t *testing.T, name string, with attributes) (sum float64) {
	t.Helper()
	for _, point := range metering.Points(t, reader, name, with) {
		sum += point.Value
	}
	return sum
}

// spansOf are the ended spans of a kind's reconciliations, oldest first.
func spansOf(kind string) []sdktrace.ReadOnlySpan {
	var found []sdktrace.ReadOnlySpan
	for _, span := range spans.Ended() {
		if span.Name() == "Reconcile "+kind {
			found = append(found, span)
		}
	}
	return found
}

func attributeOf(span sdktrace.ReadOnlySpan, key attribute.Key) attribute.Value {
	for _, kv := range span.Attributes() {
		if kv.Key == key {
			return kv.Value
		}
	}
	return attribute.Value{}
}

// causesOf returns the causes that these spans name.
func causesOf(kind string) [][]string {
	var causes [][]string
	for _, span := range spansOf(kind) {
		causes = append(causes, attributeOf(span, "reconcile.causes").AsStringSlice())
	}
	return causes
}

// leader is a reconciler that is always leader-aware and does what a test says.
type leader struct {
	reconciler.LeaderAwareFuncs

	reconcile func(ctx context.Context, key string) error
}

func (l *leader) Reconcile(ctx context.Context, key string) error { return l.reconcile(ctx, key) }

var kinds sync.Map

// kindOf is a kind for a test alone, and for one run of it: what was measured is never forgotten.
func kindOf(t *testing.T) string {
	t.Helper()
	kind, _ := kinds.LoadOrStore(t, fmt.Sprintf("%s-%p", t.Name(), t))
	return kind.(string)
}

// newController is a wired controller of the kind that the test is named after.
func newController(t *testing.T, reconcile func(context.Context, string) error, guards Guards, watches ...Watch) (*controller.Impl, *Triggers) {
	t.Helper()
	ctx, _ := attach(logtesting.TestContextWithLogger(t))
	if reconcile == nil {
		reconcile = func(context.Context, string) error { return nil }
	}
	impl := controller.NewContext(ctx, &leader{reconcile: reconcile}, controller.ControllerOptions{
		WorkQueueName: kindOf(t), Logger: logtesting.TestLogger(t),
	})
	triggers := NewTriggers(kindOf(t))
	if err := triggers.Wire(ctx, impl, guards, watches...); err != nil {
		t.Fatal(err)
	}
	return impl, triggers
}

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

// byHand are the handlers of a source, whose notifications a test delivers.
type byHand struct{ cache.ResourceEventHandler }

// AddEventHandlerWithOptions implements notifier.
func (b *byHand) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	b.ResourceEventHandler = h
	return b, nil
}

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (*byHand) HasSynced() bool { return true }

// thing is any object.
func thing(name, version string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), ResourceVersion: version}}
}

// pass lets time pass in a bubble of synctest, where no goroutine waits for it.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // see above

// seed returns a seed for random schedules, which is logged and which testrand.SeedVariable sets.
func seed(t *testing.T) uint64 {
	t.Helper()
	return uint64(testrand.Source(t).Int63())
}
