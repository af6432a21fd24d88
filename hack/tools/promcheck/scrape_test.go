/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v2"
)

// service is what decides about scraping in a Service of config/.
type service struct {
	Metadata struct {
		Name      string            `yaml:"name"`
		Namespace string            `yaml:"namespace"`
		Labels    map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Spec struct {
		Ports []struct {
			Name string `yaml:"name"`
		} `yaml:"ports"`
	} `yaml:"spec"`
}

// services are those of config/: the two for metrics and the webhook's own, which must not be scraped.
func services(t *testing.T) []service {
	t.Helper()
	var found []service
	for _, file := range []string{"400-metrics-services.yaml", "400-webhook-service.yaml"} {
		for document := range strings.SplitSeq(read(t, "../../../config/"+file), "\n---\n") {
			var s service
			if err := yaml.Unmarshal([]byte(document), &s); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			found = append(found, s)
		}
	}
	return found
}

func TestScrapeConfig_ServicesOfTheInstallation_AreJobsControllerAndWebhook(t *testing.T) {
	var config struct {
		ScrapeConfigs []struct {
			SD []struct {
				Role       string `yaml:"role"`
				Namespaces struct {
					Names []string `yaml:"names"`
				} `yaml:"namespaces"`
			} `yaml:"kubernetes_sd_configs"`
			Relabel []*relabel.Config `yaml:"relabel_configs"`
		} `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal([]byte(read(t, monitoring+"scrape-config.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.ScrapeConfigs) != 1 || len(config.ScrapeConfigs[0].SD) != 1 || config.ScrapeConfigs[0].SD[0].Role != "endpointslice" {
		t.Fatalf("got %+v, want one that discovers EndpointSlices", config)
	}
	scrape := config.ScrapeConfigs[0]
	for _, rule := range scrape.Relabel {
		if err := rule.Validate(model.UTF8Validation); err != nil {
			t.Fatal(err)
		}
	}
	var jobs []string
	for _, s := range services(t) {
		if !slices.Contains(scrape.SD[0].Namespaces.Names, s.Metadata.Namespace) {
			t.Errorf("namespace %s is not discovered", s.Metadata.Namespace)
		}
		for _, port := range s.Spec.Ports {
			// As Prometheus names what it discovers.
			discovered := labels.NewBuilder(labels.FromStrings("job", "mallard", "__meta_kubernetes_namespace", s.Metadata.Namespace,
				"__meta_kubernetes_pod_name", "a-pod", "__meta_kubernetes_endpointslice_port_name", port.Name))
			for name, value := range s.Metadata.Labels {
				discovered.Set("__meta_kubernetes_service_label_"+strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(name), value)
			}
			if !relabel.ProcessBuilder(discovered, scrape.Relabel...) {
				continue
			}
			if got := discovered.Get("namespace") + "/" + discovered.Get("pod"); got != s.Metadata.Namespace+"/a-pod" {
				t.Errorf("port %s of Service %s is scraped as %s", port.Name, s.Metadata.Name, got)
			}
			jobs = append(jobs, discovered.Get("job"))
		}
	}
	if want := []string{"controller", "webhook"}; !slices.Equal(jobs, want) {
		t.Errorf("the jobs are %q, want %q", jobs, want)
	}
}

func TestServiceMonitor_ServicesOfTheInstallation_AreJobsControllerAndWebhook(t *testing.T) {
	var monitor struct {
		Metadata struct {
			Namespace string `yaml:"namespace"`
		} `yaml:"metadata"`
		Spec struct {
			Selector struct {
				MatchLabels map[string]string `yaml:"matchLabels"`
			} `yaml:"selector"`
			JobLabel  string `yaml:"jobLabel"`
			Endpoints []struct {
				Port string `yaml:"port"`
			} `yaml:"endpoints"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(read(t, monitoring+"servicemonitor.yaml")), &monitor); err != nil {
		t.Fatal(err)
	}
	var jobs []string
	for _, s := range services(t) {
		selected := s.Metadata.Namespace == monitor.Metadata.Namespace
		for name, value := range monitor.Spec.Selector.MatchLabels {
			selected = selected && s.Metadata.Labels[name] == value
		}
		for _, port := range s.Spec.Ports {
			if selected && port.Name == monitor.Spec.Endpoints[0].Port {
				jobs = append(jobs, s.Metadata.Labels[monitor.Spec.JobLabel])
			}
		}
	}
	if want := []string{"controller", "webhook"}; !slices.Equal(jobs, want) {
		t.Errorf("the jobs are %q, want %q", jobs, want)
	}
}

// TestDashboard_EveryQuery_IsOfTheChosenNamespaces keeps installations apart that share a Prometheus.
func TestDashboard_EveryQuery_IsOfTheChosenNamespaces(t *testing.T) {
	queries, err := panelQueries(monitoring + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		expr, err := newParser().ParseExpr(q.text)
		if err != nil {
			t.Fatalf("%s: %v", q.where, err)
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			selector, ok := node.(*parser.VectorSelector)
			if ok && !slices.ContainsFunc(selector.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == "namespace" && m.Type == labels.MatchRegexp }) {
				t.Errorf("%s does not select the namespace of %s", q.where, selector.Name)
			}
			return nil
		})
	}
}
