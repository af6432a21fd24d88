/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observe

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"k8s.io/apimachinery/pkg/util/wait"

	"knative.dev/pkg/system"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

// environment has the variables with which the tests run. client-go reads those of its detectors when it is initialized: it then panics if an
// object in a cache is changed, or if a streamed list differs from a list.
var environment = map[string]string{
	"KUBE_CACHE_MUTATION_DETECTOR": "true", "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR": "true", system.NamespaceEnvKey: "knative-samples",
}

// metrics are those of the test process. They add up, so tests name what they measure differently.
var metrics = sdkmetric.NewManualReader()

func TestMain(m *testing.M) {
	if err := withEnvironment(); err != nil {
		fmt.Fprintln(os.Stderr, "starting the tests with the detectors of client-go:", err)
		os.Exit(1)
	}
	if os.Getenv(replicaVariable) != "" {
		runReplica()
		return
	}
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(metrics)))
	spans := measured.Spans()
	harness.Search("the spans and metrics", func() string { return measured.Exported(spans, metrics) })
	harness.Main(m, harness.Bare())
}

// withEnvironment replaces the process by one with the variables, unless it has them.
func withEnvironment() error {
	missing := false
	for variable, value := range environment {
		if os.Getenv(variable) == "" {
			missing = true
			if err := os.Setenv(variable, value); err != nil {
				return fmt.Errorf("setting an environment variable: %w", err)
			}
		}
	}
	if !missing {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the tests: %w", err)
	}
	return fmt.Errorf("replacing the process: %w", syscall.Exec(self, os.Args, os.Environ()))
}

// informing returns the goroutines of informers, observers and work queues.
func informing() (stacks []string) {
	all := make([]byte, 1<<24)
	for stack := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		switch {
		case strings.Contains(stack, "updateUnfinishedWorkLoop"):
			// It ends up to a second after its queue, whose other goroutines are counted.
		case strings.Contains(stack, "k8s.io/client-go/tools/cache."), strings.Contains(stack, "k8s.io/client-go/util/workqueue."),
			strings.Contains(stack, "knative.dev/pkg/controller."), strings.Contains(stack, "mallard/observe.") && !strings.Contains(stack, "testing.tRunner"):
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

// awaitEnd waits until there are at most as many goroutines of informers, observers and work queues as before. The test may have ended.
func awaitEnd(t *testing.T, before int) {
	t.Helper()
	stacks := informing()
	if err := wait.PollUntilContextTimeout(context.Background(), 10*time.Millisecond, harness.Deadline, true, func(context.Context) (bool, error) {
		stacks = informing()
		return len(stacks) <= before, nil
	}); err != nil {
		t.Errorf("there are %d goroutines of informers, observers and work queues after the end of the process, and there were %d before: %v\n%s",
			len(stacks), before, err, strings.Join(stacks, "\n\n"))
	}
}

// counted returns the sum of the data points of a counter that have these attributes, among others.
func counted(t *testing.T, name string, with map[string]string) int64 {
	t.Helper()
	var attributes []attribute.KeyValue
	for key, value := range with {
		attributes = append(attributes, attribute.String(key, value))
	}
	sum, _ := measured.Sum(t, metrics, name, attributes...)
	return sum
}
