/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package harness

import (
	"context"
	"os"
	"testing"

	"github.com/mallard-dev/mallard/internal/devprocess"
)

// Process is a process of the operator in the hands of a test.
type Process struct {
	process *devprocess.Process
}

// Process returns a process by name, which is that of its Deployment, with a number from the second replica on.
func (e *Env) Process(t testing.TB, name string) *Process {
	t.Helper()
	p, err := e.environment.Runner.Process(name)
	if err != nil {
		t.Fatal(err)
	}
	return &Process{p}
}

// User is the name under which the API server knows a process of the system namespace with this service account.
func (e *Env) User(account string) string {
	return "system:serviceaccount:" + e.SystemNamespace + ":" + account
}

// Kill ends the process with SIGKILL and returns when it is gone.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the process with SIGTERM and returns when it is gone.
func (p *Process) Stop(t testing.TB) {
	t.Helper()
	if err := p.process.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Start starts the process and returns when it is ready.
func (p *Process) Start(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Deadline)
	defer cancel()
	if err := p.process.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := p.process.WaitReady(ctx); err != nil {
		lines, _ := p.process.LastLines(dumpLines)
		t.Fatalf("%v\nlast lines:\n%s", err, indent(lines))
	}
}

// Restart stops the process, starts it, and returns when it is ready.
func (p *Process) Restart(t testing.TB) {
	t.Helper()
	p.Stop(t)
	p.Start(t)
}

// Log returns everything that the process has written since its first start.
func (p *Process) Log(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(p.process.LogFile())
	if err != nil {
		t.Fatalf("reading the log of process %s: %v", p.process.Name(), err)
	}
	return string(content)
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
