/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"bytes"
	"context"
	"fmt"
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
	content, err := scrape(t.Context(), p.URL(t, "metrics", "/metrics"))
	if err != nil {
		t.Fatalf("scraping %s: %v", p.name, err)
	}
	return content
}

func scrape(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("reading the metrics: %s", response.Status)
	}
	return content, err
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
