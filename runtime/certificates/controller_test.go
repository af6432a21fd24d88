/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package certificates

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"k8s.io/utils/clock"

	certresources "knative.dev/pkg/webhook/certificates/resources"
)

// reader reads the metrics of all tests, because the provider of a process is set once.
var reader = func() sdkmetric.Reader {
	reader := sdkmetric.NewManualReader()
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	return reader
}()

// expiry returns the value of the metric of the certificate.
func expiry(t *testing.T) int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			if metric.Name == "webhook.certificate.expiry.timestamp" {
				return metric.Data.(metricdata.Gauge[int64]).DataPoints[0].Value
			}
		}
	}
	t.Fatal("there is no metric of the certificate")
	return 0
}

func notAfter(t *testing.T, data map[string][]byte) time.Time {
	t.Helper()
	block, _ := pem.Decode(data[certresources.ServerCert])
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.NotAfter
}

// A replica serves with the last valid certificate while the Secret is corrupted.
func TestReconcile_Certificate_MetricIsTheExpiryOfTheLastValidOne(t *testing.T) {
	state := newRegistered(t)
	r := state.standby(t)
	r.clock = clock.RealClock{}
	for name, tc := range map[string]struct {
		lifetime  time.Duration
		corrupted map[string][]byte
	}{
		"a certificate":     {2 * time.Hour, nil},
		"another":           {3 * time.Hour, nil},
		"an empty secret":   {4 * time.Hour, map[string][]byte{}},
		"not PEM":           {5 * time.Hour, map[string][]byte{certresources.ServerCert: []byte("text")}},
		"not a certificate": {6 * time.Hour, map[string][]byte{certresources.ServerCert: []byte("-----BEGIN X-----\nAAAA\n-----END X-----\n")}},
	} {
		t.Run(name, func(t *testing.T) {
			state.secret.Data = certificate(t, "webhook", tc.lifetime)
			want := notAfter(t, state.secret.Data).Unix()
			reconcile(t, r)
			if tc.corrupted != nil {
				state.secret.Data = tc.corrupted
				reconcile(t, r)
			}
			if got := expiry(t); got != want {
				t.Errorf("the metric is %d, want the end of the certificate, %d", got, want)
			}
		})
	}
}
