/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simpledeployment

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/pkg/apis/samples"
	"github.com/mallard-dev/mallard/test/harness"
)

const (
	few, many = 5, 5000
	// rollouts are how many there are in each measurement, so that it takes much more than the clock of processes can tell apart.
	rollouts = 60
)

// TestCostsAreTheSameWithFiveAndWithFiveThousandOtherPods measures rollouts, which need passes of each sort, in a namespace
// with few other Pods and then with many.
func TestCostsAreTheSameWithFiveAndWithFiveThousandOtherPods(t *testing.T) {
	env := harness.Own(t)
	ns := env.Namespace(t)
	controller := env.Process(t, "controller")
	ref := deploy(t, env, ns, "image", 3)
	addOthers(t, env, ns, 0, few)
	rollOut(t, env, ref, "warm-up", rollouts)

	calls, cpu := measure(t, env, controller, func() { rollOut(t, env, ref, "few", rollouts) })
	addOthers(t, env, ns, few, many)
	callsMany, cpuMany := measure(t, env, controller, func() { rollOut(t, env, ref, "many", rollouts) })

	t.Logf("%d rollouts beside %d Pods: %v, %v of CPU; beside %d: %v, %v of CPU", rollouts, few, calls, cpu, many, callsMany, cpuMany)
	for _, request := range []string{"patch pods", "delete pods", "get pods", "list pods", "watch pods", "get simpledeployments", "list simpledeployments"} {
		if calls[request] != callsMany[request] {
			t.Errorf("%s: %d requests beside %d Pods, %d beside %d", request, calls[request], few, callsMany[request], many)
		}
	}
	if cpuMany > 2*cpu {
		t.Errorf("CPU: %v beside %d Pods, %v beside %d, which is more than twice", cpu, few, cpuMany, many)
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
			t.Errorf("the controller asks for Pods with the selector %q: %s", got, e.Query)
		}
	}
	if seen == 0 {
		t.Error("the controller did not ask for Pods at all")
	}
}

// addOthers makes Pods that are nobody's, numbered, and that wait for a gate, so that nothing else is done about them.
func addOthers(t *testing.T, env *harness.Env, ns string, from, to int) {
	t.Helper()
	const clients = 8
	var wg sync.WaitGroup
	failures := make(chan error, clients)
	for c := range clients {
		wg.Go(func() {
			for i := from + c; i < to; i += clients {
				_, err := env.Kube.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("other-%d", i), Labels: map[string]string{"app": "other"}},
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

// measure counts what the controller asks for meanwhile, by verb and resource, and the CPU time that it takes.
func measure(t *testing.T, env *harness.Env, controller *harness.Process, during func()) (map[string]int, time.Duration) {
	t.Helper()
	mark, before := env.Mark(t), cpuTime(t, controller.PID())
	during()
	used := cpuTime(t, controller.PID()) - before
	calls := map[string]int{}
	for _, e := range mark.Entries(t, harness.ByUser(env.User("controller"))) {
		if e.Resource != "leases" {
			calls[e.Verb+" "+strings.TrimSuffix(e.Resource+"/"+e.Subresource, "/")]++
		}
	}
	return calls, used
}

// cpuTime is the time that a process has spent in user and kernel mode, which Linux counts in hundredths of a second.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name in parentheses may hold anything.
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
