//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package costs

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/test/measured"
)

// writers is the number of clients that create objects at the same time.
const writers = 16

// operator is an operator whose costs are measured.
type operator struct {
	name string
	// folder returns that of the operator's module, which has its manifests in config.
	folder  func(testing.TB) string
	options []harness.Option
	// prepare returns more options. It is called when the operator is measured, and may be nil.
	prepare func(testing.TB) []harness.Option
	// processes are the names of the Deployments that are measured: the controller and, if there is one, the webhook.
	processes []string
	kind      kind
	// logsErrors is set for controllers of others, whose errors in the log, such as conflicts, are not ours to judge.
	logsErrors bool
}

// ours is the operator of this repository, as config/ installs it.
var ours = operator{
	name: "Mallard", folder: func(testing.TB) string { return "." }, processes: []string{controllerName, webhookName}, kind: addressableServices,
}

const (
	controllerName, webhookName = "controller", "webhook"
	// controlPlane is the name of the process with the API server, etcd and the controllers of Kubernetes.
	controlPlane = "control plane"
)

// figure is a measured value. Its name contains the unit.
type figure struct {
	name  string
	value float64
}

// measurement is the measurement of an operator in a separate environment.
type measurement struct {
	operator

	env *harness.Env
	// ns is the namespace of the objects, with their target.
	ns      string
	objects int
	figures []figure
}

// measure starts an operator and creates objects. It then measures an idle interval, a restart of the controller, its end without a release of its leases
// and, without the controller, clients that create the same objects and write the same status.
func (o operator) measure(t testing.TB, objects int, idle time.Duration) []figure {
	t.Helper()
	t.Chdir(o.folder(t))
	options := o.options
	if o.prepare != nil {
		options = append(slices.Clone(options), o.prepare(t)...)
	}
	env := harness.Own(t, options...)
	if o.logsErrors {
		env.ExpectErrors(t, "")
	}
	m := &measurement{operator: o, env: env, ns: env.Namespace(t), objects: objects}
	createTarget(t, env, m.ns)
	m.awaitDefaults(t)
	// Once the first object is Ready, the controller leads and has the target in its cache, and the API server calls the webhook.
	m.create(t, "first-", 1).await(t)
	m.settle(t)
	rate := m.measureCreation(t)
	m.measureIdle(t, idle)
	m.measureRestart(t)
	m.measureKill(t)
	m.env.Process(t, controllerName).Stop(t)
	count := min(objects, mostRaw)
	raw := float64(count) / m.writeRaw(t, count).Seconds()
	m.add("objects per second, created and their status written by clients", raw)
	m.add("rate to Ready, divided by that of clients", rate/raw)
	return m.figures
}

// awaitDefaults returns once new objects have their defaults: policies are in force some time after they were created.
func (m *measurement) awaitDefaults(t testing.TB) {
	t.Helper()
	harness.Eventually(t, "new objects have defaults", func(ctx context.Context) error {
		object, err := m.env.Dynamic.Resource(m.kind.resource).Namespace(m.ns).Create(ctx, m.kind.object(0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && m.kind.defaulted && len(object.GetFinalizers()) == 0 {
			return fmt.Errorf("it has no finalizer: %v", object.Object)
		}
		return err
	})
}

func (m *measurement) add(name string, value float64) {
	m.figures = append(m.figures, figure{name, value})
}

// create creates objects whose names begin with a prefix.
func (m *measurement) create(t testing.TB, prefix string, count int) *batch {
	t.Helper()
	k := m.kind
	k.prefix = prefix
	return k.create(t, m.env, m.ns, count, writers)
}

// measureCreation measures from the creation of all objects until the controller is idle. It returns the number of objects per second.
func (m *measurement) measureCreation(t testing.TB) float64 {
	t.Helper()
	lines, mark, before := m.webhookLines(t), m.env.Mark(t), m.usage(t)
	batch := m.create(t, "it-", m.objects)
	rate := float64(m.objects) / batch.await(t).Seconds()
	m.settle(t)
	after := m.usage(t)
	perObject := func(n int) float64 { return float64(n) / float64(m.objects) }

	m.add("objects per second to Ready", rate)
	m.add("seconds from create to Ready, median", batch.latency(0.5).Seconds())
	m.add("seconds from create to Ready, 99th percentile", batch.latency(0.99).Seconds())
	requests := m.requests(t, mark)
	byName := byName(requests)
	leases, conflicts := 0, 0
	for _, e := range requests {
		switch {
		case e.Code == http.StatusConflict:
			conflicts++
		case e.Resource == "leases" && harness.Writes(e):
			leases++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		m.add("requests per object: "+name, perObject(byName[name]))
	}
	m.add("conflicts per object", perObject(conflicts))
	m.add("lease writes per object", perObject(leases))
	if lines := m.webhookLines(t) - lines; slices.Contains(m.processes, webhookName) {
		m.add("log lines of the webhook per object", perObject(lines))
	}
	for _, process := range m.measured() {
		m.add("CPU, ms per object: "+process, (after[process].CPU-before[process].CPU).Seconds()*1000/float64(m.objects))
	}
	for _, process := range m.measured() {
		m.add("memory, MiB: "+process, mebibytes(after[process].Memory))
		m.add("memory, KiB per object: "+process, mebibytes(after[process].Memory-before[process].Memory)*1024/float64(m.objects))
	}
	return rate
}

// measureIdle measures while nothing changes. The API server compares each of its watch caches with etcd every 5 to 7.5 minutes.
func (m *measurement) measureIdle(t testing.TB, idle time.Duration) {
	t.Helper()
	mark, before, start := m.env.Mark(t), m.usage(t), time.Now()
	select {
	case <-time.After(idle):
	case <-t.Context().Done():
		t.Fatal(context.Cause(t.Context()))
	}
	after, minutes := m.usage(t), time.Since(start).Minutes()
	for _, process := range m.measured() {
		m.add("CPU while idle, ms per minute: "+process, (after[process].CPU-before[process].CPU).Seconds()*1000/minutes)
	}
	m.add("requests while idle, per minute", float64(len(m.requests(t, mark)))/minutes)
}

// measureRestart stops the controller, creates one more object, and measures how long the controller takes from its start until that is Ready.
func (m *measurement) measureRestart(t testing.TB) {
	t.Helper()
	controller := m.env.Process(t, controllerName)
	controller.Stop(t)
	late, mark, start := m.create(t, "late-", 1), m.env.Mark(t), time.Now()
	controller.Start(t)
	late.await(t)
	m.add("seconds from a restart to Ready of a new object", time.Since(start).Seconds())
	m.settle(t)
	writes := 0
	for _, e := range m.requests(t, mark) {
		if harness.Writes(e) && notLeases(e) {
			writes++
		}
	}
	m.add("writes after a restart, except for the new object", float64(writes-1))
	used := m.usage(t)[controllerName]
	m.add("CPU after a restart, ms per object: "+controllerName, used.CPU.Seconds()*1000/float64(m.objects))
	m.add("memory after a restart, MiB: "+controllerName, mebibytes(used.Memory))
}

// measureKill kills the controller, starts it at once, and measures how long a new object takes to become Ready. A killed leader releases no lease.
func (m *measurement) measureKill(t testing.TB) {
	t.Helper()
	start := time.Now()
	m.env.Process(t, controllerName).Kill(t)
	m.env.Process(t, controllerName).Start(t)
	m.create(t, "later-", 1).await(t)
	m.add("seconds from a kill to Ready of a new object", time.Since(start).Seconds())
}

// mostRaw is the largest number of objects that clients create and write, because these remain in the control plane as well.
const mostRaw = 10000

// writeRaw has clients create a number of objects in another namespace, each followed by a write of the status that the controller wrote. The API server
// calls the same webhooks.
func (m *measurement) writeRaw(t testing.TB, count int) time.Duration {
	t.Helper()
	resource := m.env.Dynamic.Resource(m.kind.resource)
	ready, err := resource.Namespace(m.ns).Get(t.Context(), m.kind.object(0).GetName(), metav1.GetOptions{})
	if err != nil {
		t.Fatalf("reading an object that is Ready: %v", err)
	}
	client := resource.Namespace(m.env.Namespace(t))
	return each(t, count, writers, func(n int) error {
		object, err := client.Create(t.Context(), m.kind.object(n), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		object.Object["status"] = ready.Object["status"]
		_, err = client.UpdateStatus(t.Context(), object, metav1.UpdateOptions{})
		return err
	})
}

// busy is the share of one processor below which the controller counts as idle.
const busy = 0.03

// settle waits until the controller is idle: it may reconcile an object again after it has become Ready.
func (m *measurement) settle(t testing.TB) {
	t.Helper()
	pid, since := m.env.Process(t, controllerName).PID(), time.Now()
	used := measured.UsageOf(t, pid).CPU
	harness.Eventually(t, "the controller is idle", func(context.Context) error {
		spent := time.Since(since)
		if spent < time.Second {
			return fmt.Errorf("it was not observed for longer than %v", spent)
		}
		now := measured.UsageOf(t, pid).CPU
		share := (now - used).Seconds() / spent.Seconds()
		if since, used = time.Now(), now; share > busy {
			return fmt.Errorf("it uses %.0f %% of a processor", share*100)
		}
		return nil
	})
}

// measured returns the names of the processes that are measured.
func (m *measurement) measured() []string { return append(slices.Clone(m.processes), controlPlane) }

func (m *measurement) usage(t testing.TB) map[string]measured.Usage {
	t.Helper()
	used := map[string]measured.Usage{controlPlane: measured.UsageOf(t, m.env.ControlPlanePID(t))}
	for _, process := range m.processes {
		used[process] = measured.UsageOf(t, m.env.Process(t, process).PID())
	}
	return used
}

// requests returns the requests of the operator's processes since a mark.
func (m *measurement) requests(t testing.TB, mark harness.Mark) []harness.AuditEntry {
	t.Helper()
	return mark.Entries(t, func(e harness.AuditEntry) bool { return e.Verb != "watch" && strings.HasPrefix(e.User, m.env.User("")) })
}

// byName counts requests, except for those of leases, by verb and resource.
func byName(entries []harness.AuditEntry) map[string]int {
	counts := map[string]int{}
	for _, e := range entries {
		if notLeases(e) {
			counts[e.Verb+" "+strings.TrimSuffix(e.Resource+"/"+e.Subresource, "/")]++
		}
	}
	return counts
}

func (m *measurement) webhookLines(t testing.TB) int {
	t.Helper()
	if !slices.Contains(m.processes, webhookName) {
		return 0
	}
	return strings.Count(m.env.Process(t, webhookName).Log(t), "\n")
}

func mebibytes(bytes int) float64 { return float64(bytes) / (1 << 20) }
