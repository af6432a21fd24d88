//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tenants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

const (
	// writes is the number of requests of each sort that the tenant sends.
	writes = 1000
	// mostPerWrite is the memory that a process may keep for each of them: 10 MiB of 10,000.
	mostPerWrite = 10 << 20 / 10_000
	// noise is the variation of the size of the heap from one collection to the next.
	noise = 1 << 19
)

var (
	addressableServices = schema.GroupVersionResource{Group: "samples.knative.dev", Version: "v1", Resource: "addressableservices"}
	addressBindings     = schema.GroupVersionResource{Group: "samples.knative.dev", Version: "v1", Resource: "addressbindings"}
	simpleDeployments   = schema.GroupVersionResource{Group: "samples.knative.dev", Version: "v1alpha1", Resource: "simpledeployments"}
)

// growthAttacks write to the tenant's objects again and again; n counts from 0.
var growthAttacks = []struct {
	name string
	// begin creates the objects that write changes.
	begin string
	write func(context.Context, *tenant, int) error
}{
	{"ReferencesThatChange", service("it", "{apiVersion: v1, kind: Service, name: none}"), func(ctx context.Context, w *tenant, n int) error {
		return w.change(ctx, addressableServices, fmt.Sprintf(`{"spec": {"ref": {"name": "target-%d"}}}`, n))
	}},
	{"ReferencedKindsThatChange", service("it", "{apiVersion: v1, kind: Service, name: none}"), func(ctx context.Context, w *tenant, n int) error {
		return w.change(ctx, addressableServices, fmt.Sprintf(`{"spec": {"ref": {"apiVersion": "group%d.example.com/v1", "kind": "Invented"}}}`, n))
	}},
	{"SubjectsThatChange", addressed + "---" + bind("it", "EVIL", toWork), func(ctx context.Context, w *tenant, n int) error {
		return w.change(ctx, addressBindings, fmt.Sprintf(`{"spec": {"subject": {"name": "work-%d"}}}`, n))
	}},
	{
		"SelectorsThatChange", addressed + "---" + bind("it", "EVIL", "{apiVersion: apps/v1, kind: Deployment, selector: {}}"),
		func(ctx context.Context, w *tenant, n int) error {
			return w.change(ctx, addressBindings, fmt.Sprintf(`{"spec": {"subject": {"selector": {"matchLabels": {"app": "work-%d"}}}}}`, n))
		},
	},
	{"ImagesThatChange", deployment("it"), func(ctx context.Context, w *tenant, n int) error {
		return w.change(ctx, simpleDeployments, fmt.Sprintf(`{"spec": {"image": "image-%d", "replicas": 0}}`, n))
	}},
	{"PathsOfTheWebhook", "", func(ctx context.Context, w *tenant, n int) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.webhook+fmt.Sprintf("/path-%d", n), bytes.NewReader([]byte("{}")))
		if err != nil {
			return fmt.Errorf("making a request: %w", err)
		}
		response, err := w.pod.Do(request)
		if err != nil {
			return fmt.Errorf("asking the webhook: %w", err)
		}
		_, err = io.Copy(io.Discard, response.Body)
		return errors.Join(err, response.Body.Close())
	}},
}

// change merges a text into the object it of a resource.
func (w *tenant) change(ctx context.Context, resource schema.GroupVersionResource, text string) error {
	_, err := w.as.Dynamic.Resource(resource).Namespace(w.ns).Patch(ctx, "it", types.MergePatchType, []byte(text), metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("changing it: %w", err)
	}
	return nil
}

// TestTenant_ManyWrites_GrowNoProcess compares the heaps of both processes before and after the tenant's writes.
func TestTenant_ManyWrites_GrowNoProcess(t *testing.T) {
	t.Parallel()
	env := harness.Own(t)
	env.SetConfig(t, "config-observability", map[string]string{"runtime-profiling": "enabled"})
	c := &cluster{Env: env, webhooks: true}
	for _, a := range growthAttacks {
		t.Run(a.name, func(t *testing.T) {
			w := c.newTenant(t)
			if a.begin != "" {
				w.apply(t, a.begin)
			}
			w.asPod(t)
			write := func(from, to int) {
				group, ctx := errgroup.WithContext(t.Context())
				group.SetLimit(8)
				for n := from; n < to; n++ {
					group.Go(func() error { return a.write(ctx, w, n) })
				}
				if err := group.Wait(); err != nil {
					t.Fatal(err)
				}
			}
			// Pools, buffers and caches of a bounded size are filled first.
			write(0, writes/4)
			before := map[string]int{"controller": 0, "webhook": 0}
			for process := range before {
				before[process] = heap(t, env, process)
			}
			write(writes/4, writes+writes/4)
			for process, was := range before {
				harness.Eventually(t, "the heap of the "+process, func(context.Context) error {
					grown := heap(t, env, process) - was
					if most := writes*mostPerWrite + noise; grown > most {
						return fmt.Errorf("it has grown by %d bytes with %d writes, want at most %d", grown, writes, most)
					}
					t.Logf("%s: %d bytes more after %d writes", process, grown, writes)
					return nil
				})
			}
		})
	}
}

var heapAlloc = regexp.MustCompile(`(?m)^# HeapAlloc = (\d+)$`)

// heap returns the size of the heap of a process after a garbage collection.
func heap(t *testing.T, env *harness.Env, process string) int {
	t.Helper()
	var size int
	harness.Eventually(t, "the profile of the "+process, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, env.Process(t, process).URL(t, "profiling", "/debug/pprof/heap?gc=1&debug=1"), nil)
		if err != nil {
			return fmt.Errorf("making a request: %w", err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return fmt.Errorf("reading the profile: %w", err)
		}
		defer func() { _ = response.Body.Close() }()
		profile, err := io.ReadAll(response.Body)
		if err != nil {
			return fmt.Errorf("reading the profile: %w", err)
		}
		found := heapAlloc.FindSubmatch(profile)
		if found == nil {
			return fmt.Errorf("the profile shows no size of the heap, but %d bytes with status %s", len(profile), response.Status)
		}
		size, err = strconv.Atoi(string(found[1]))
		return err
	})
	return size
}
