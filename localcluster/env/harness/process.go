/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mallard-dev/mallard/localcluster/env/processes"
)

// Process is a process of the operator in the hands of a test. One of an environment that other suites use too can only be read.
type Process struct {
	env  *Env
	name string
	// process is nil if the process belongs to the program that started the environment.
	process *processes.Process
}

// Process returns a process by name, which is that of its Deployment, with a number from the second replica on.
func (e *Env) Process(t testing.TB, name string) *Process {
	t.Helper()
	if e.attached {
		return &Process{env: e, name: name}
	}
	if e.environment.Runner == nil {
		t.Fatalf("process %s is in a Pod: look for it with the client", name)
	}
	p, err := e.environment.Runner.Process(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Process{env: e, name: name, process: p}
}

// own returns the process, and ends the test if other suites rely on it.
func (p *Process) own(t testing.TB) *processes.Process {
	t.Helper()
	p.env.mustBeOwn(t, "process "+p.name)
	return p.process
}

// mustBeOwn ends a test that is about to change something on which other suites rely.
func (e *Env) mustBeOwn(t testing.TB, what string) {
	t.Helper()
	if e.attached {
		t.Fatalf("%s belongs to an environment that other suites use too: start a separate one with harness.Own, or with harness.Separate in TestMain", what)
	}
}

// User is the name under which the API server knows a process of the system namespace with this service account.
func (e *Env) User(account string) string {
	return "system:serviceaccount:" + e.SystemNamespace + ":" + account
}

// Kill ends the process with SIGKILL and returns when it has exited.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if err := p.own(t).Kill(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the process with SIGTERM and returns when it has exited.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	if err := p.own(t).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Start starts the process and returns when it is ready.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	if err := p.TryStart(t); err != nil {
		lines, _ := p.process.LastLines(dumpLines)
		t.Fatalf("%v\nlast lines:\n%s", err, indent(lines))
	}
}

// TryStart is Start for a process that may end before it is ready. Its error then wraps a [processes.ExitError], with the
// last lines of the log.
func (p *Process) TryStart(t testing.TB) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	if err := p.own(t).Start(ctx); err != nil {
		return err
	}
	return p.process.WaitReady(ctx)
}

// SetEnv gives the process environment variables from its next start on, instead of those that its Deployment declares;
// nil takes them back. A proxy before the process stays.
func (p *Process) SetEnv(env map[string]string) { p.process.SetEnv(env) }

// Restart stops the process, starts it, and returns when it is ready.
func (p *Process) Restart(t testing.TB) {
	t.Helper()
	p.Stop(t)
	p.Start(t)
}

// Log returns everything that the process has written since its first start.
func (p *Process) Log(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(p.env.environment.LogFile(p.name))
	if err != nil {
		t.Fatalf("reading the log of process %s: %v", p.name, err)
	}
	return string(content)
}

// ExpireLeases takes from the process, which must not run, the leases that it held when it was killed. Its successor would
// otherwise wait until they have run out.
func (e *Env) ExpireLeases(t testing.TB, p *Process) {
	t.Helper()
	leases := e.Kube.CoordinationV1().Leases(e.SystemNamespace)
	list, err := leases.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("listing the leases: %v", err)
	}
	// The identity begins with the name of the machine, which all processes share, but each logs its own.
	log := p.Log(t)
	for _, lease := range list.Items {
		holder := lease.Spec.HolderIdentity
		if holder == nil || *holder == "" || !strings.Contains(log, *holder) {
			continue
		}
		if err := leases.Delete(t.Context(), lease.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatalf("deleting lease %s: %v", lease.Name, err)
		}
	}
}

// URL is the address of what the process serves on a named port of its container. Each start has a new address.
func (p *Process) URL(t testing.TB, port, path string) string {
	t.Helper()
	var address string
	var err error
	if p.process != nil {
		address, err = p.process.Address(port)
	} else {
		deployment := types.NamespacedName{Namespace: p.env.SystemNamespace, Name: p.name}
		address, err = processes.Published(t.Context(), p.env.Kube, deployment, port)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + address + path
}

// PID is the process ID, 0 unless the process runs.
func (p *Process) PID() int { return p.process.PID() }

// ControlPlanePID is the process ID of the control plane: the API server, etcd and the controllers of Kubernetes are one process.
func (e *Env) ControlPlanePID(t testing.TB) int {
	t.Helper()
	e.mustBeOwn(t, "the control plane")
	return e.environment.ClusterPID()
}

// TakeExits returns the notices of the processes that have ended unasked since it was last called. An exit that no test
// takes fails the run.
func (e *Env) TakeExits() []error {
	e.mu.Lock()
	defer e.mu.Unlock()
	exits := e.exits
	e.exits = nil
	return exits
}

// Proxy returns the proxy before a process, which the environment must have been started with: see [WithProxy].
func (e *Env) Proxy(t testing.TB, process string) *Proxy {
	t.Helper()
	p, ok := e.proxies[process]
	if !ok {
		t.Fatalf("process %s has no proxy: start the environment with harness.WithProxy(%q)", process, process)
	}
	return p
}
