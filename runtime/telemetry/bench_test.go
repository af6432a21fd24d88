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

	"knative.dev/pkg/logging"
)

// BenchmarkReconcile measures what a reconciliation costs in addition to the reconciler: with every span kept, and with none as by default.
func BenchmarkReconcile(b *testing.B) {
	recording := otel.GetTracerProvider()
	defer otel.SetTracerProvider(recording)
	for name, provider := range map[string]trace.TracerProvider{"spans": recording, "no spans": noop.NewTracerProvider()} {
		b.Run(name, func(b *testing.B) {
			otel.SetTracerProvider(provider)
			defer spans.Reset()
			logger := zap.NewNop().Sugar()
			ctx := logging.WithLogger(b.Context(), logger)
			k := NewKind(b.Name())
			b.ReportAllocs()
			for b.Loop() {
				k.Triggered("updated", "Service")
				_, end := k.Begin(ctx, "ns/a", func() []string { return []string{"updated Service ns/target"} })
				end(nil)
			}
		})
	}
}
