/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"k8s.io/client-go/rest"

	"knative.dev/pkg/injection"
	"knative.dev/pkg/injection/sharedmain"
	"knative.dev/pkg/logging"
	"knative.dev/pkg/webhook"
)

func TestRequests_RoutineLines_AreNotWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	ctx := logging.WithConfig(webhook.WithOptions(t.Context(), webhook.Options{}), &logging.Config{
		LoggingConfig: `{"level":"info","encoding":"json","outputPaths":["` + file + `"],"encoderConfig":{"messageKey":"message"}}`,
	})
	logger, level := logging.NewLoggerFromConfig(logging.GetConfig(withQuietRequests(ctx)), "webhook")
	logger.Infof("Webhook ServeHTTP request=%#v", http.Header{"Authorization": {"Bearer secret"}})
	logger.With("key", "value").Infof("remote admission controller audit annotations=%#v", nil)
	logger.Info("Starting")
	logger.Error("Webhook ServeHTTP request=")
	logger.Error("http: TLS handshake error from 127.0.0.1: EOF")
	logger.Errorw("Server rejected event (will not retry!)", "err", `namespaces "a" not found`)
	level.SetLevel(zap.ErrorLevel)
	logger.Info("Hidden by the level")
	written, err := os.ReadFile(file)
	for part, want := range map[string]int{"Bearer": 0, "annotations": 0, "Starting": 1, "ERROR": 1, "WARN": 2, "will not retry": 1, "Hidden": 0} {
		if got := strings.Count(string(written), part); err != nil || got != want {
			t.Errorf("%q is in the log %d times, want %d: %s, %v", part, got, want, written, err)
		}
	}
}

// The ConfigMap may leave everything to package logging.
func TestRequests_NoZapConfig_IsTheDefault(t *testing.T) {
	ctx := withQuietRequests(logging.WithConfig(webhook.WithOptions(t.Context(), webhook.Options{}), &logging.Config{}))
	if got := logging.GetConfig(ctx).LoggingConfig; !strings.Contains(got, quietEncoding) {
		t.Errorf("the configuration is %s", got)
	}
}

// A process without webhooks records Events, too. Its start reads no ConfigMap for it.
func TestRequests_NoWebhook_ConfigurationThatWasReadChanges(t *testing.T) {
	ctx := injection.WithConfig(t.Context(), &rest.Config{})
	if withQuietRequests(ctx) != ctx {
		t.Error("the context has changed")
	}
	ctx = withQuietRequests(logging.WithConfig(ctx, &logging.Config{}))
	if got := logging.GetConfig(ctx).LoggingConfig; !strings.Contains(got, quietEncoding) {
		t.Errorf("the configuration is %s", got)
	}
}

// Any Pod can send requests with any path, any header Host and any kind to the webhook.
func TestMetrics_PathsAndHostsOfClients_AreNoAttributes(t *testing.T) {
	for name, off := range map[string][]concern{"Hardened": nil, "Upstream": {attributes}} {
		t.Run(name, func(t *testing.T) {
			ctx, _, p := setup(t, off...)
			reader, port := sdkmetric.NewManualReader(), freePort(t)
			ctx = logging.WithLogger(ctx, p.logger())
			provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithView(sharedmain.OTelViews(ctx)...))
			ctx = webhook.WithOptions(ctx, webhook.Options{Port: port, MeterProvider: provider, GracePeriod: time.Millisecond})
			server, err := webhook.New(ctx, []any{p.constructor(newConversions)(ctx, nil).Reconciler})
			if err != nil {
				t.Fatal(err)
			}
			stop, stopped := make(chan struct{}), make(chan error)
			go func() { stopped <- server.Run(stop) }()
			const n = 50
			for i := range n {
				post(t, port, fmt.Sprintf("/path-%d", i), fmt.Sprintf("host-%d:%d", i, i+1), "")
				post(t, port, "/convert", "webhook", fmt.Sprintf(`{"request": {"desiredAPIVersion": "group-%d/v1"}}`, i))
			}
			close(stop)
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			got := values(t, reader, "http.server.request.duration")
			want := map[string]int{"http.route": 1}
			if len(off) > 0 {
				want = map[string]int{"http.route": n + 1, "server.address": n + 1, "server.port": n, "kn.webhook.resource.group": n}
			}
			for _, key := range []string{"http.route", "server.address", "server.port", "kn.webhook.resource.group"} {
				if got[key] != want[key] {
					t.Errorf("the attribute %s has %d values, want %d", key, got[key], want[key])
				}
			}
			if got := values(t, reader, "kn.webhook.handler.duration"); got["http.route"] != 1 || got["kn.webhook.resource.group"] != n {
				t.Errorf("the metric of conversions has these numbers of values: %v", got)
			}
		})
	}
}

// post sends a request to the webhook once it listens.
func post(t *testing.T, port int, path, host, body string) {
	t.Helper()
	eventually(t, "the webhook answers", func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		return err == nil
	})
}

// values returns the numbers of values that the attributes of a metric have.
func values(t *testing.T, reader sdkmetric.Reader, name string) map[string]int {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	seen, numbers := map[attribute.KeyValue]bool{}, map[string]int{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if histogram, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == name {
				for _, point := range histogram.DataPoints {
					for _, a := range point.Attributes.ToSlice() {
						if !seen[a] {
							seen[a] = true
							numbers[string(a.Key)]++
						}
					}
				}
			}
		}
	}
	return numbers
}
