/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Requests holds the numbers of requests that the API server has answered, from its metric apiserver_request_total, by request and response
// code. It counts all requests, including those of the administrator and of the server itself. The verbs are those of [Request], except
// that a server-side apply has the verb "apply", and the deletion of a collection, such as the objects of a deleted namespace, has the verb
// "delete", as the deletion of one object has.
type Requests map[Answer]int

// Requests takes a snapshot of the API server's count of requests. It contains all earlier requests.
func (e *Env) Requests(t testing.TB) Requests {
	t.Helper()
	e.mustBeOwn(t, "the count of all requests")
	// The server counts a request where it logs it, so the log's barrier is one for the metrics.
	e.barrier(t)
	requests := Requests{}
	for _, metric := range e.metric(t, "apiserver_request_total") {
		requests[answerOf(metric.GetLabel())] += int(metric.GetCounter().GetValue())
	}
	return requests
}

// metric returns a metric of the API server.
func (e *Env) metric(t testing.TB, name string) []*dto.Metric {
	t.Helper()
	text, err := e.Kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatalf("reading the metrics of the API server: %v", err)
	}
	families, err := parseMetrics(text)
	if err != nil {
		t.Fatalf("reading the metrics of the API server: %v", err)
	}
	return families[name].GetMetric()
}

func answerOf(labels []*dto.LabelPair) Answer {
	var a Answer
	for _, label := range labels {
		value := label.GetValue()
		switch label.GetName() {
		case "verb":
			a.Verb = verbOfMetric(value)
		case "group":
			a.Group = value
		case "resource":
			a.Resource = value
		case "subresource":
			a.Subresource = value
		case "code":
			// A request without a numeric code has not been answered, and is counted with the code 0.
			a.Code, _ = strconv.Atoi(value)
		}
	}
	return a
}

// verbOfMetric translates the verbs of the metric, which are HTTP methods except for reads.
func verbOfMetric(verb string) string {
	switch verb {
	case "POST":
		return "create"
	case "PUT":
		return "update"
	default:
		return strings.ToLower(verb)
	}
}

// Since returns how many requests of each sort were answered after an earlier snapshot; sorts without any are left out.
func (r Requests) Since(earlier Requests) Requests {
	more := Requests{}
	for answer, n := range r {
		if n -= earlier[answer]; n != 0 {
			more[answer] = n
		}
	}
	return more
}

// Of keeps the requests that match. The metric has neither namespace nor name nor path of a request.
func (r Requests) Of(match Match) Requests {
	found := Requests{}
	for a, n := range r {
		if match(Request{Verb: a.Verb, Group: a.Group, Resource: a.Resource, Subresource: a.Subresource}) {
			found[a] = n
		}
	}
	return found
}

// Total returns the total number of requests.
func (r Requests) Total() int {
	total := 0
	for _, n := range r {
		total += n
	}
	return total
}

// String lists the requests by number, one sort a line.
func (r Requests) String() string {
	answers := slices.SortedFunc(maps.Keys(r), func(a, b Answer) int {
		return cmp.Or(cmp.Compare(r[b], r[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var text strings.Builder
	for _, a := range answers {
		name := strings.TrimSuffix(a.Resource+"/"+a.Subresource, "/")
		fmt.Fprintf(&text, "%6d %s %s %d\n", r[a], a.Verb, name, a.Code)
	}
	return text.String()
}

// Admissions holds the number of calls of each admission webhook, by its name, from the API server's metric
// apiserver_admission_webhook_request_total. Requests that failed count, too.
func (e *Env) Admissions(t testing.TB) map[string]int {
	t.Helper()
	e.mustBeOwn(t, "the count of all webhook calls")
	admissions := map[string]int{}
	for _, metric := range e.metric(t, "apiserver_admission_webhook_request_total") {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "name" {
				admissions[label.GetValue()] += int(metric.GetCounter().GetValue())
			}
		}
	}
	return admissions
}

// Conversions holds the number of conversions of objects of a CRD by its webhook, from the API server's metric
// apiserver_crd_conversion_webhook_duration_seconds. Each object of a list is one.
func (e *Env) Conversions(t testing.TB, crd schema.GroupResource) int {
	t.Helper()
	e.mustBeOwn(t, "the count of all conversions")
	conversions := 0
	for _, metric := range e.metric(t, "apiserver_crd_conversion_webhook_duration_seconds") {
		if labelled(metric, "crd_name", crd.String()) {
			conversions += int(metric.GetHistogram().GetSampleCount())
		}
	}
	return conversions
}

// ConsistencyChecks holds the number of comparisons of a resource's watch caches with etcd, from the API server's metric
// apiserver_storage_consistency_checks_total. Each served version of a CRD has a watch cache.
func (e *Env) ConsistencyChecks(t testing.TB, resource schema.GroupResource) int {
	t.Helper()
	e.mustBeOwn(t, "the count of all checks")
	checks := 0
	for _, metric := range e.metric(t, "apiserver_storage_consistency_checks_total") {
		if labelled(metric, "group", resource.Group) && labelled(metric, "resource", resource.Resource) {
			checks += int(metric.GetCounter().GetValue())
		}
	}
	return checks
}

func labelled(metric *dto.Metric, name, value string) bool {
	return slices.ContainsFunc(metric.GetLabel(), func(label *dto.LabelPair) bool { return label.GetName() == name && label.GetValue() == value })
}
