/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package telemetry

import (
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/logging"
)

// BenchmarkPass measures what a pass costs besides the reconciler: with every span kept, and with none as by default.
func BenchmarkPass(b *testing.B) {
	recording := otel.GetTracerProvider()
	defer otel.SetTracerProvider(recording)
	for name, provider := range map[string]trace.TracerProvider{"spans": recording, "no spans": noop.NewTracerProvider()} {
		b.Run(name, func(b *testing.B) {
			otel.SetTracerProvider(provider)
			defer spans.Reset()
			logger := zap.NewNop().Sugar()
			ctx := logging.WithLogger(b.Context(), logger)
			impl := controller.NewContext(ctx, plain{}, controller.ControllerOptions{WorkQueueName: b.Name(), Logger: logger})
			wakes := Instrument(ctx, impl, b.Name())
			b.ReportAllocs()
			for b.Loop() {
				wakes.note(named("a"), Cause{What: Updated, Source: "Service", Object: "ns/target"})
				if err := impl.Reconciler.Reconcile(ctx, "ns/a"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
