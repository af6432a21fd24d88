/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Scrape reads the metrics of the process, as Prometheus does.
func (p *Process) Scrape(t testing.TB) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL(t, "metrics", "/metrics"), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("scraping %s: %v", p.name, err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("scraping %s: %s, %v", p.name, response.Status, err)
	}
	return content
}

// Metrics are the process's metrics by their names.
func (p *Process) Metrics(t testing.TB) map[string]*dto.MetricFamily {
	t.Helper()
	families, err := parseMetrics(p.Scrape(t))
	if err != nil {
		t.Fatalf("reading the metrics of %s: %v", p.name, err)
	}
	return families
}

func parseMetrics(text []byte) (map[string]*dto.MetricFamily, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(text))
}
