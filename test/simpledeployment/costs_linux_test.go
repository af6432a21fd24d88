//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/measured"
)

const (
	few, many = 5, 5000
	// rollouts is the number of rollouts in each measurement, so that it takes much more than the clock of processes can tell apart.
	rollouts = 60
	// atRest is the minimum number of idle reconciliations in each measurement.
	atRest = 100
)

// TestCosts_FiveOrFiveThousandOtherPods_AreEqual measures rollouts, which need reconciliations of each sort, in a namespace
// with few other Pods, then with many, and then with as many more that look like an object's, which fill the controller's cache.
func TestCosts_FiveOrFiveThousandOtherPods_AreEqual(t *testing.T) {
	env := harness.Own(t)
	// Of reconciliations that are many a second it leaves most out of the log otherwise.
	env.SetConfig(t, "config-logging", map[string]string{"zap-logger-config": `{"level": "info", "sampling": null}`})
	controller := env.Process(t, "controller")
	controller.Restart(t)
	ns := env.Namespace(t)
	ref := deploy(t, env, ns, "image", 3)
	addOthers(t, env, ns, "other", few, nil)
	rollOut(t, env, ref, "warm-up", rollouts)

	least := measure(t, env, controller, ref, "few")
	t.Logf("with %d other Pods: %v", few, least)
	for _, others := range []struct {
		name   string
		labels map[string]string
	}{
		{name: "unlabeled"},
		{name: "labeled", labels: map[string]string{samples.PodOwnerUIDLabelKey: "another"}},
	} {
		addOthers(t, env, ns, others.name, many, others.labels)
		costs := measure(t, env, controller, ref, others.name)
		t.Logf("with %d more %s Pods: %v", many, others.name, costs)
		for _, request := range []string{"create pods", "delete pods", "get pods", "list pods", "watch pods", "get simpledeployments", "list simpledeployments"} {
			// On a busy machine a request is repeated now and then.
			if costs.calls[request] > least.calls[request]+few {
				t.Errorf("%s: %d requests with %d Pods, %d with %d %s ones", request, least.calls[request], few, costs.calls[request], many, others.name)
			}
		}
		if costs.cpu > 2*least.cpu {
			t.Errorf("CPU: %v with %d Pods, %v with %d %s ones, which is more than twice", least.cpu, few, costs.cpu, many, others.name)
		}
		// It is measured by the wall, and other suites run concurrently. A walk through the cache takes eight times as long.
		if costs.reconciliation > 4*least.reconciliation {
			t.Errorf("an idle reconciliation: %v with %d Pods, %v with %d %s ones, which is more than four times as long", least.reconciliation, few, costs.reconciliation, many, others.name)
		}
	}

	// A watch is in the log once it has ended. What has no other selector than ours fills the cache with no other Pod.
	mark := env.Mark(t)
	controller.Restart(t)
	controller.Stop(t)
	seen := 0
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller")), harness.ByVerb("list", "watch"), harness.ByRequest(harness.Matching("*", "pods"))) {
		query, err := url.ParseQuery(e.Query)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		if got := query.Get("labelSelector"); got != samples.PodOwnerUIDLabelKey && !strings.HasPrefix(got, samples.PodOwnerUIDLabelKey+"=") {
			t.Errorf("the controller lists Pods with the selector %q: %s", got, e.Query)
		}
	}
	if seen == 0 {
		t.Error("the controller did not list Pods at all")
	}
}

// addOthers creates Pods without an owner, numbered, and that wait for a gate, so that nothing else is done about them.
func addOthers(t *testing.T, env *harness.Env, ns, name string, count int, labels map[string]string) {
	t.Helper()
	const clients = 8
	var wg sync.WaitGroup
	failures := make(chan error, clients)
	for c := range clients {
		wg.Go(func() {
			for i := c; i < count; i += clients {
				_, err := env.Kube.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", name, i), Labels: labels},
					Spec: corev1.PodSpec{
						Containers:      []corev1.Container{{Name: "c", Image: "i"}},
						SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
					},
				}, metav1.CreateOptions{})
				if err != nil {
					failures <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-failures:
		t.Fatalf("making other Pods: %v", err)
	default:
	}
}

func rollOut(t *testing.T, env *harness.Env, ref harness.Ref, name string, times int) {
	t.Helper()
	for i := range times {
		change(t, env, ref, fmt.Sprintf(`{"image": "%s-%d"}`, name, i))
		env.Await(t, ref, harness.Ready)
	}
}

// costs are those of a number of rollouts, and of one idle reconciliation.
type costs struct {
	// calls are the controller's requests, by verb and resource.
	calls map[string]int
	// cpu is the CPU time that the controller has used.
	cpu time.Duration
	// reconciliation is the median duration of an idle reconciliation. It waits for nothing, so that a walk through the cache shows, which in a
	// rollout is a small part.
	reconciliation time.Duration
}

func (c costs) String() string {
	return fmt.Sprintf("%d rollouts: %v, %v of CPU; an idle reconciliation: %v", rollouts, c.calls, c.cpu, c.reconciliation)
}

// measure causes rollouts, and then idle reconciliations.
func measure(t *testing.T, env *harness.Env, controller *harness.Process, ref harness.Ref, name string) costs {
	t.Helper()
	mark, before := env.Mark(t), measured.UsageOf(t, controller.PID()).CPU
	rollOut(t, env, ref, name, rollouts)
	c := costs{calls: map[string]int{}, cpu: measured.UsageOf(t, controller.PID()).CPU - before}
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller"))) {
		if e.Resource != "leases" {
			c.calls[e.Verb+" "+strings.TrimSuffix(e.Resource+"/"+e.Subresource, "/")]++
		}
	}

	from := len(controller.Log(t))
	for i := range 2 * atRest {
		env.Patch(t, ref, fmt.Sprintf(`{"metadata": {"annotations": {"%s": "%d"}}}`, name, i))
	}
	// Changes that come fast may share a reconciliation.
	harness.Eventually(t, "idle reconciliations", func(context.Context) error {
		took := reconciliations(t, controller, from)[ref.Namespace+"/"+ref.Name]
		if len(took) < atRest {
			return fmt.Errorf("there were %d", len(took))
		}
		slices.Sort(took)
		c.reconciliation = took[len(took)/2]
		return nil
	})
	return c
}
