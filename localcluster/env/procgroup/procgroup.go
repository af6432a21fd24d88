/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package procgroup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Group is a started child process and the process group that it leads.
type Group struct {
	pid  int
	done chan struct{}
	err  error
}

// started are the groups of this program, kept to check at its end whether any is left.
var started struct {
	mu     sync.Mutex
	groups map[int]struct{}
}

func remember(pid int) {
	started.mu.Lock()
	defer started.mu.Unlock()
	if started.groups == nil {
		started.groups = map[int]struct{}{}
	}
	started.groups[pid] = struct{}{}
}

// Alive returns the IDs of those groups that this program has started and in which some process still lives.
func Alive() []int {
	started.mu.Lock()
	defer started.mu.Unlock()
	maps.DeleteFunc(started.groups, func(pid int, _ struct{}) bool {
		return errors.Is(syscall.Kill(-pid, 0), syscall.ESRCH)
	})
	return slices.Sorted(maps.Keys(started.groups))
}

// Start starts cmd as the leader of a new process group. The command must not have been built with [exec.CommandContext]:
// that kills the leader alone. Output that goes to a writer needs a WaitDelay, since a grandchild that survives holds the
// pipe open. A SysProcAttr that is set already stays, and must have Setpgid.
func Start(cmd *exec.Cmd) (*Group, error) {
	g := &Group{done: make(chan struct{})}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = attributes()
	}
	result := make(chan error, 1)
	go func() {
		// The parent-death signal is tied to the thread that forked, not to the process, so that thread has to live as long
		// as the child does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			result <- err
			return
		}
		g.pid = cmd.Process.Pid
		remember(g.pid)
		result <- nil
		g.err = cmd.Wait()
		Report(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(), cmd.Args)
		// Processes that the leader left behind would hold ports and files that its successor needs.
		_ = syscall.Kill(-g.pid, syscall.SIGKILL)
		close(g.done)
	}()
	if err := <-result; err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	return g, nil
}

// PID is the process ID of the leader, which is the ID of the group too.
func (g *Group) PID() int { return g.pid }

// Done is closed once the leader has ended and the rest of its group has been killed.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err is the exit error of the leader, as [exec.Cmd.Wait] reports it. It blocks until Done is closed.
func (g *Group) Err() error {
	<-g.done
	return g.err
}

// Signal sends a signal to every process of the group. A group that has ended is no error.
func (g *Group) Signal(signal syscall.Signal) error {
	select {
	case <-g.done:
		return nil
	default:
	}
	if err := syscall.Kill(-g.pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %v to process group %d: %w", signal, g.pid, err)
	}
	return nil
}

// Stop sends SIGTERM to the group, and kills it when grace has passed or ctx is done first. It returns once the
// leader has ended; Err returns its exit error.
func (g *Group) Stop(ctx context.Context, grace time.Duration) error {
	if err := g.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-g.done:
		return nil
	case <-time.After(grace):
	case <-ctx.Done():
	}
	return g.Kill()
}

// Kill ends the group with SIGKILL and returns once the leader has exited.
func (g *Group) Kill() error {
	if err := g.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-g.done
	return nil
}

// Run starts cmd as Start does and waits for its end. When ctx is done first the whole group is stopped, with SIGKILL
// after grace, and the context's cause is returned.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	g, err := Start(cmd)
	if err != nil {
		return err
	}
	select {
	case <-g.Done():
		return g.Err()
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), g.Stop(context.WithoutCancel(ctx), grace))
	}
}

// Output runs cmd as Run does and returns what it wrote to its standard output. Its error carries what it wrote to its
// standard error, which goes to cmd.Stderr as well if that is set.
func Output(ctx context.Context, cmd *exec.Cmd, grace time.Duration) (string, error) {
	var stdout, stderr strings.Builder
	progress := cmd.Stderr
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if progress != nil {
		cmd.Stderr = io.MultiWriter(&stderr, progress)
	}
	cmd.WaitDelay = grace
	if err := Run(ctx, cmd, grace); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
