/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package processes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// noticeLines is the number of last lines in an [ExitError].
const noticeLines = 20

// Process is one container of one Deployment as a local process. It can be started any number of times, one execution
// at a time. Its methods may be called from several goroutines.
type Process struct {
	name       string
	deployment types.NamespacedName
	container  string
	ordinal    int
	// uid stays the same over restarts, as that of a Pod does when its container is started again.
	uid    types.UID
	log    string
	runner *Runner

	// lifecycle lets one of Start, Stop and Kill run at a time; mu guards the fields below and is held for a moment only.
	lifecycle sync.Mutex
	mu        sync.Mutex
	override  Override
	current   *execution
}

// Override replaces settings of the Deployment for a process, from its next start on.
type Override struct {
	// Server is the API server to talk to; nil is that of the runner.
	Server *Server
	// Env is added to the environment, and wins over it.
	Env map[string]string
}

// execution is one life of a process.
type execution struct {
	group   *procgroup.Group
	backend backend
	// probe is nil if the container has none.
	probe *probe
	// firstReady is closed when the process was ready for the first time and the cluster's status shows it.
	firstReady chan struct{}
	// over is closed when the process has ended and the cluster's status shows it.
	over chan struct{}

	// Guarded by Process.mu.
	ready     bool
	planned   bool
	retired   bool
	lastProbe error
}

// ExitError reports that a process has exited unexpectedly.
type ExitError struct {
	// Process is its name.
	Process string
	// Err is its exit error, or nil for exit status 0.
	Err error
	// Lines are the last lines of its log.
	Lines []string
}

// Error names the process and how it ended, without the lines of its log.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return "process " + e.Process + " has exited unexpectedly with exit status 0"
	}
	return fmt.Sprintf("process %s has ended: %v", e.Process, e.Err)
}

// Unwrap returns the exit error of the process.
func (e *ExitError) Unwrap() error { return e.Err }

// NotReadyError reports a process that runs but was not ready when a wait ended.
type NotReadyError struct {
	// Process is its name.
	Process string
	// Err is the cause for the end of the wait, with the report of the last probe.
	Err error
	// Lines are the last lines of its log: errors first.
	Lines []string
}

// Error names the process, without the lines of its log.
func (e *NotReadyError) Error() string {
	return fmt.Sprintf("process %s is not ready: %v", e.Process, e.Err)
}

// Unwrap returns the cause for the end of the wait.
func (e *NotReadyError) Unwrap() error { return e.Err }

// Name is the name of the Deployment; with the container's name if there are several, and with a number from the second
// replica on.
func (p *Process) Name() string { return p.name }

// LogFile is the path of the file that takes the output of every execution, one after the other.
func (p *Process) LogFile() string { return p.log }

// LastLines are the last lines of the log, at most maximum of them.
func (p *Process) LastLines(maximum int) ([]string, error) { return LastLines(p.log, maximum) }

// SetEnv replaces the environment of the override from the next start on.
func (p *Process) SetEnv(env map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.override.Env = env
}

// running returns the execution that has not ended, or nil.
func (p *Process) running() *execution {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil || isClosed(p.current.group.Done()) {
		return nil
	}
	return p.current
}

// Running reports whether the process has been started and has not ended.
func (p *Process) Running() bool { return p.running() != nil }

// Ready reports whether the process runs and its last readiness probes succeeded.
func (p *Process) Ready() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current != nil && p.current.ready
}

// PID is the process ID, 0 unless the process runs.
func (p *Process) PID() int {
	if e := p.running(); e != nil {
		return e.group.PID()
	}
	return 0
}

// Address returns the host:port at which the process serves a named port of its container. It is an error unless the
// process runs and the container has such a port.
func (p *Process) Address(port string) (string, error) {
	e := p.running()
	if e == nil {
		return "", fmt.Errorf("process %s does not run", p.name)
	}
	number, ok := containerPort(intstr.FromString(port), e.backend.declared)
	if !ok {
		return "", fmt.Errorf("process %s has no port named %s", p.name, port)
	}
	return net.JoinHostPort(loopback, strconv.Itoa(e.backend.local[number])), nil
}

// Start starts the process with the present content of its Deployment and of the objects that it refers to. It does not wait until the
// process is ready: see WaitReady. A process that runs already is an error.
func (p *Process) Start(ctx context.Context) error {
	p.lifecycle.Lock()
	defer p.lifecycle.Unlock()
	if p.Running() {
		return fmt.Errorf("process %s runs already", p.name)
	}
	if p.runner.ctx.Err() != nil {
		return fmt.Errorf("starting process %s: its runner has been closed", p.name)
	}
	p.mu.Lock()
	override := p.override
	p.mu.Unlock()
	cmd, e, err := p.runner.prepare(ctx, p, override)
	if err != nil {
		return fmt.Errorf("starting process %s: %w", p.name, err)
	}
	if e.group, err = start(cmd, p.log); err != nil {
		return fmt.Errorf("starting process %s: %w", p.name, err)
	}
	p.mu.Lock()
	p.current = e
	p.mu.Unlock()
	p.runner.tasks.Go(func() { p.supervise(e) })
	if err := p.runner.report(ctx, p.deployment); err != nil {
		return errors.Join(fmt.Errorf("starting process %s: %w", p.name, err), p.end(e, e.group.Kill))
	}
	return nil
}

// WaitReady returns once the process has been ready and the status of its Deployment shows it. A process that ends first is an [ExitError];
// a context that is done is a [NotReadyError].
func (p *Process) WaitReady(ctx context.Context) error {
	p.mu.Lock()
	e := p.current
	p.mu.Unlock()
	if e == nil {
		return fmt.Errorf("process %s has not been started", p.name)
	}
	select {
	case <-e.firstReady:
		return nil
	case <-e.over:
		return p.exitError(e)
	case <-ctx.Done():
		p.mu.Lock()
		why := errors.Join(context.Cause(ctx), e.lastProbe)
		p.mu.Unlock()
		lines, err := p.LastLines(searchedLines)
		return &NotReadyError{Process: p.name, Err: errors.Join(why, err), Lines: errorsFirst(lines)}
	}
}

// Stop sends SIGTERM to the process and kills it when the grace period has passed or ctx is done. It returns when the process has exited and the
// status of its Deployment shows it. A process that does not run is no error.
func (p *Process) Stop(ctx context.Context) error {
	p.lifecycle.Lock()
	defer p.lifecycle.Unlock()
	return p.finish(func(e *execution) error {
		// As for a Pod that is being deleted, whose endpoints are removed when it receives SIGTERM.
		p.retire(e)
		return e.group.Stop(ctx, grace)
	})
}

// retire takes an execution out of the endpoints for good.
func (p *Process) retire(e *execution) {
	p.mu.Lock()
	e.retired, e.ready = true, false
	p.mu.Unlock()
	p.publish()
}

// Kill ends the process with SIGKILL, as a machine that fails would, and returns as Stop does.
func (p *Process) Kill() error {
	p.lifecycle.Lock()
	defer p.lifecycle.Unlock()
	return p.finish(func(e *execution) error { return e.group.Kill() })
}

func (p *Process) finish(end func(*execution) error) error {
	p.mu.Lock()
	e := p.current
	p.mu.Unlock()
	if e == nil {
		return nil
	}
	return p.end(e, func() error { return end(e) })
}

// end marks the end as planned before it happens, so that no exit notice is sent for it.
func (p *Process) end(e *execution, end func() error) error {
	p.mu.Lock()
	e.planned = true
	p.mu.Unlock()
	if err := end(); err != nil {
		return fmt.Errorf("ending process %s: %w", p.name, err)
	}
	<-e.over
	return nil
}

func (p *Process) exitError(e *execution) error {
	lines, err := p.LastLines(noticeLines)
	return errors.Join(&ExitError{Process: p.name, Err: e.group.Err(), Lines: lines}, err)
}
