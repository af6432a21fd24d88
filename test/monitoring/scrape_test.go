/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// service holds the fields of a Service that decide about scraping.
type service struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string            `json:"name"`
		Namespace string            `json:"namespace"`
		Labels    map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Ports []struct {
			Name string `json:"name"`
		} `json:"ports"`
	} `json:"spec"`
}

// services are those for metrics, also of the overlay hooks, and the webhook's own, which must not be scraped.
func services(t *testing.T) []service {
	t.Helper()
	var found []service
	for _, file := range []string{"kustomize/overlays/hooks/200-hooks.yaml", "config/400-metrics-services.yaml", "config/400-webhook-service.yaml"} {
		content, err := os.ReadFile(root + file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(content), "\n---\n") {
			var s service
			if err := yaml.Unmarshal([]byte(document), &s); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if s.Kind == "Service" {
				found = append(found, s)
			}
		}
	}
	return found
}

// relabeling is a rule of Prometheus that keeps targets, or that sets a label of theirs.
type relabeling struct {
	Source []string `json:"source_labels"`
	Regex  string   `json:"regex"`
	Action string   `json:"action"`
	Target string   `json:"target_label"`
}

// apply reports whether the target with the labels is kept.
func (r relabeling) apply(t *testing.T, labels map[string]string) bool {
	t.Helper()
	values := make([]string, len(r.Source))
	for i, name := range r.Source {
		values[i] = labels[name]
	}
	value := strings.Join(values, ";")
	switch {
	case r.Action == "keep":
		return regexp.MustCompile("^(?:" + r.Regex + ")$").MatchString(value)
	case r.Action == "" && r.Regex == "":
		labels[r.Target] = value
	default:
		t.Errorf("this test does not know the rule %+v", r)
	}
	return true
}

func TestScrapeConfig_ServicesOfTheInstallation_AreJobsOfTheirProcesses(t *testing.T) {
	var config struct {
		ScrapeConfigs []struct {
			SD []struct {
				Role       string `json:"role"`
				Namespaces struct {
					Names []string `json:"names"`
				} `json:"namespaces"`
			} `json:"kubernetes_sd_configs"`
			Relabel []relabeling `json:"relabel_configs"`
		} `json:"scrape_configs"`
	}
	readYAML(t, "monitoring/scrape-config.yaml", &config)
	if len(config.ScrapeConfigs) != 1 || len(config.ScrapeConfigs[0].SD) != 1 || config.ScrapeConfigs[0].SD[0].Role != "endpointslice" {
		t.Fatalf("got %+v, want one that discovers EndpointSlices", config)
	}
	scrape := config.ScrapeConfigs[0]
	var jobs []string
	for _, s := range services(t) {
		if !slices.Contains(scrape.SD[0].Namespaces.Names, s.Metadata.Namespace) {
			t.Errorf("namespace %s is not discovered", s.Metadata.Namespace)
		}
		for _, port := range s.Spec.Ports {
			// As Prometheus names what it discovers.
			labels := map[string]string{
				"job": "mallard", "__meta_kubernetes_namespace": s.Metadata.Namespace,
				"__meta_kubernetes_pod_name": "a-pod", "__meta_kubernetes_endpointslice_port_name": port.Name,
			}
			for name, value := range s.Metadata.Labels {
				labels["__meta_kubernetes_service_label_"+strings.NewReplacer(".", "_", "/", "_", "-", "_").Replace(name)] = value
			}
			if slices.ContainsFunc(scrape.Relabel, func(r relabeling) bool { return !r.apply(t, labels) }) {
				continue
			}
			if got := labels["namespace"] + "/" + labels["pod"]; got != s.Metadata.Namespace+"/a-pod" {
				t.Errorf("port %s of Service %s is scraped as %s", port.Name, s.Metadata.Name, got)
			}
			jobs = append(jobs, labels["job"])
		}
	}
	slices.Sort(jobs)
	if want := []string{"controller", "hooks", "webhook"}; !slices.Equal(jobs, want) {
		t.Errorf("the jobs are %q, want %q", jobs, want)
	}
}

func TestServiceMonitor_ServicesOfTheInstallation_AreJobsOfTheirProcesses(t *testing.T) {
	var monitor struct {
		Metadata struct {
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Spec struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			JobLabel  string `json:"jobLabel"`
			Endpoints []struct {
				Port string `json:"port"`
			} `json:"endpoints"`
		} `json:"spec"`
	}
	readYAML(t, "monitoring/servicemonitor.yaml", &monitor)
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
	slices.Sort(jobs)
	if want := []string{"controller", "hooks", "webhook"}; !slices.Equal(jobs, want) {
		t.Errorf("the jobs are %q, want %q", jobs, want)
	}
}
