/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"knative.dev/pkg/controller"
	"knative.dev/pkg/injection"
	"knative.dev/pkg/logging"
	_ "knative.dev/pkg/system/testing"

	"github.com/mallard-dev/mallard/crud"
)

// The hook has deleted the object, so that one version is that of the deletion. A change by another client is delivered, also as part of the same event.
func TestIsOwn_DeletionBegins_HidesNoChangeByOthers(t *testing.T) {
	before, deleted := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	for _, u := range []*unstructured.Unstructured{before, deleted} {
		u.SetUID("u")
	}
	deleted.SetDeletionTimestamp(new(metav1.Now()))
	own := func(version string) bool { return version == "u/deleted" || version == "u/own" }
	for name, tc := range map[string]struct {
		now      *unstructured.Unstructured
		versions []string
		want     bool
	}{
		"deletion":               {deleted, []string{"u/2"}, true},
		"write and deletion":     {deleted, []string{"u/own", "u/3"}, true},
		"deletion and another":   {deleted, []string{"u/2", "u/3"}, false},
		"many versions":          {deleted, []string{"", "u/70"}, false},
		"another, no deletion":   {before, []string{"u/2"}, false},
		"own write, no deletion": {before, []string{"u/own"}, true},
	} {
		o := &object{received: &state{Unstructured: before}, versions: tc.versions}
		if got := o.isOwn(Modified, &state{Unstructured: tc.now}, own); got != tc.want {
			t.Errorf("%s: the event is own: %t, want %t", name, got, tc.want)
		}
	}
}

// A filter that would take the memory or the time of the process fails alone, and so does one whose results are too large.
func TestFilterResult_HostileFilter_IsNullAndTheNextObjectIsFiltered(t *testing.T) {
	core, logs := observer.New(zap.ErrorLevel)
	ctx := logging.WithLogger(t.Context(), zap.New(core).Sugar())
	const memoryOrTime = "(needs more than 128 MiB of memory|ran for)"
	for filter, want := range map[string]string{
		`def f: [f]; if .kind == "hostile" then f else .kind end`:                       memoryOrTime,
		`if .kind == "hostile" then reduce range(40) as $i ("x"; . + .) else .kind end`: memoryOrTime,
		`if .kind == "hostile" then reduce range(40) as $i (1; [., .]) else .kind end`:  "returned more than 3145728 bytes",
		`if .kind == "hostile" then last(repeat(.)) else .kind end`:                     "ran for",
		`if .kind == "hostile" then error("canary") else .kind end`:                     "called error",
		`if .kind == "hostile" then empty else .kind end`:                               "",
	} {
		m := newMonitor(ctx, &Hook{}, &Kubernetes{JQFilter: filter})
		object := &unstructured.Unstructured{Object: map[string]any{"kind": "hostile", "metadata": map[string]any{"name": "it"}}}
		if got := m.filterResult(ctx, object); string(got) != "null" {
			t.Errorf("%s: the result is %.40s", filter, got)
		}
		entries := logs.TakeAll()
		switch {
		case want == "" && len(entries) == 0:
		case len(entries) != 1, !regexp.MustCompile(want).MatchString(fmt.Sprint(entries[0].ContextMap()["error"])), strings.Contains(fmt.Sprint(entries), "canary"):
			t.Errorf("%s: the log has %v, want one error with %q", filter, entries, want)
		}
		object.SetKind("harmless")
		if got := m.filterResult(ctx, object); string(got) != `"harmless"` || logs.Len() > 0 {
			t.Errorf("%s: the result for the next object is %.40s, and the log has %v", filter, got, logs.TakeAll())
		}
	}
	two := newMonitor(ctx, &Hook{}, &Kubernetes{JQFilter: ".kind, 1"})
	if got := two.filterResult(ctx, &unstructured.Unstructured{Object: map[string]any{"kind": "a"}}); string(got) != `["a",1]` {
		t.Errorf("two results are %s", got)
	}
}

// A process that is limited to one namespace observes objects without namespace.
func TestMonitor_KindWithoutNamespace_IsObservedByAProcessOfOneNamespace(t *testing.T) {
	ctx, cancel := context.WithCancel(logging.WithLogger(injection.WithNamespaceScope(context.Background(), "ns"), zap.NewNop().Sugar()))
	t.Cleanup(cancel)
	paths := make(chan string, 100)
	config := &rest.Config{Host: "http://a", Transport: transport(func(request *http.Request) (*http.Response, error) {
		answer, isDiscovery := map[string]string{
			"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
			"/apis":   `{"kind":"APIGroupList","apiVersion":"v1"}`,
			"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"namespaces","kind":"Namespace","namespaced":false,"verbs":["list","watch"]}]}`,
		}[request.URL.Path]
		var body io.Reader = strings.NewReader(answer)
		if !isDiscovery {
			paths <- request.URL.Path
			body, _ = io.Pipe() // a watch without events
		}
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: request, Body: io.NopCloser(body),
		}, nil
	})}
	client, err := crud.New(config, crud.Options{FieldManager: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, informers := injection.Default.SetupInformers(injection.WithConfig(ctx, config), config)
	if err := controller.StartInformers(ctx.Done(), informers...); err != nil {
		t.Fatal(err)
	}
	if err := newMonitor(ctx, &Hook{}, &Kubernetes{Kind: "Namespace"}).start(ctx, client); err != nil {
		t.Fatal(err)
	}
	select {
	case path := <-paths:
		if path != "/api/v1/namespaces" {
			t.Errorf("the objects are observed at %s", path)
		}
	case <-time.After(time.Minute):
		t.Error("the objects are not observed")
	}
}
