/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package monitoring

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { harness.Main(m, harness.AllVersions(), harness.WithOverlay("hooks")) }

const root = "../../"

// installation has the names of its processes, by the Deployment that they belong to.
type installation map[string][]string

// single is the shared environment.
var single = installation{"controller": {"controller"}, "hooks": {"hooks"}, "webhook": {"webhook"}}

// manifest is an object that becomes Ready, one that does not, and one that has to be converted.
const manifest = `
apiVersion: v1
kind: Service
metadata: {name: target}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: it}
spec: {ref: {apiVersion: v1, kind: Service, name: target}}
---
apiVersion: samples.knative.dev/v1
kind: AddressableService
metadata: {name: hopeless}
spec: {ref: {apiVersion: v1, kind: Service, name: missing}}
---
apiVersion: samples.knative.dev/v1alpha1
kind: AddressableService
metadata: {name: old}
spec: {serviceName: target}
`

// work has the operator do everything once that it measures.
func work(t *testing.T, env *harness.Env) {
	t.Helper()
	ns := env.Namespace(t)
	refs := env.Apply(t, ns, manifest)
	env.Await(t, refs[1], harness.Ready)
	env.Await(t, refs[2], harness.HasCondition("Ready", "False", ""))
}

// everything returns the metrics of all processes together.
func (i installation) everything(t *testing.T, env *harness.Env) map[string]*dto.MetricFamily {
	t.Helper()
	all := map[string]*dto.MetricFamily{}
	for _, names := range i {
		for _, name := range names {
			for family, content := range env.Process(t, name).Metrics(t) {
				if known, ok := all[family]; ok {
					content.Metric = append(content.Metric, known.GetMetric()...)
				}
				all[family] = content
			}
		}
	}
	return all
}

// awaitMeasured waits for the metrics that come with time: those of workers are written once a second.
func (i installation) awaitMeasured(t *testing.T, env *harness.Env) {
	t.Helper()
	harness.Eventually(t, "the metrics of all workers", func(context.Context) error {
		all := i.everything(t, env)
		for _, name := range []string{
			"kn_workqueue_unfinished_work_seconds", "kn_workqueue_retries_total",
			"webhook_certificate_expiry_timestamp_seconds", "hook_runs_total",
		} {
			if all[name] == nil {
				return fmt.Errorf("no process exports %s; there are %q", name, slices.Sorted(maps.Keys(all)))
			}
		}
		return nil
	})
}

// Whatever is in the cluster, the series of a process must not grow with it.
func TestMetrics_Labels_NameNoObject(t *testing.T) {
	env := harness.Shared(t)
	ns := env.Namespace(t)
	refs := env.Apply(t, ns, strings.ReplaceAll(manifest, "name: it", "name: peculiar-name"))
	env.Await(t, refs[1], harness.Ready)
	for _, names := range single {
		for _, name := range names {
			content := string(env.Process(t, name).Scrape(t))
			for _, word := range []string{ns, "peculiar-name"} {
				if i := strings.Index(content, word); i >= 0 {
					t.Errorf("the metrics of %s contain %s: %s", name, word, content[max(0, i-200):min(len(content), i+100)])
				}
			}
		}
	}
}
