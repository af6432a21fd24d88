/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// StopTimeout bounds an orderly stop, after which the control plane is killed. Even if each of its parts has to be given up, it ends before.
const StopTimeout = 20 * time.Second

// Options configure the cluster to start.
type Options struct {
	// Dir is the folder of the cluster's files; it is kept. When empty, a temporary one is used and removed at the end.
	Dir string
	// Join is the folder of a running cluster: then one more API server is started on its etcd, and nothing else.
	Join string
	// ServerFlags are flags of kube-apiserver, such as --feature-gates=WatchList=false. They win over the cluster's own.
	ServerFlags []string
	// Port of the API server on 127.0.0.1; 0 for any free one.
	Port int
	// Registry has the cluster serve an image registry and run Pods whose images are in it. Linux only.
	Registry bool
	// Binary is the program, as Build returns it. When empty, Build is called with Log.
	Binary string
	// Log gets what the cluster writes for people, a few lines; may be nil. It is written to from another goroutine.
	Log io.Writer
}

// Cluster is a running cluster.
type Cluster struct {
	kubeconfig string
	temp       bool

	group *procgroup.Group
	stdin io.Closer
	done  chan struct{}
	err   error
	last  tail
	// stopping reports whether Stop has been called.
	stopping atomic.Bool
}

// Start starts a cluster and returns when it is ready: a Pod could be created at once. The context bounds the start only;
// when it ends first, the cluster is stopped and the cause returned. A cluster that ends before it is ready is an error
// with what it said.
func Start(ctx context.Context, opts Options) (*Cluster, error) {
	if opts.Log == nil {
		opts.Log = io.Discard
	}
	if opts.Binary == "" {
		binary, err := Build(ctx, opts.Log)
		if err != nil {
			return nil, err
		}
		opts.Binary = binary
	}
	c := &Cluster{temp: opts.Dir == "", done: make(chan struct{})}
	ready, err := c.launch(opts)
	if err != nil {
		return nil, err
	}
	select {
	case c.kubeconfig = <-ready:
		return c, nil
	case <-c.done:
		return nil, fmt.Errorf("starting the control plane: %w", c.Err())
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), c.Stop(context.WithoutCancel(ctx)))
	}
}

// launch starts the process. The kubeconfig's path is delivered when the cluster is ready.
func (c *Cluster) launch(opts Options) (ready <-chan string, err error) {
	args := []string{"up", "--until-eof", "--port", strconv.Itoa(opts.Port)}
	if opts.Dir != "" {
		args = append(args, "--dir", opts.Dir)
	}
	if opts.Registry {
		args = append(args, "--registry")
	}
	if opts.Join != "" {
		args = append(args, "--join", opts.Join)
	}
	args = append(append(args, "--"), opts.ServerFlags...)
	cmd := exec.Command(opts.Binary, args...)
	// In a separate process group a Ctrl-C in the terminal does not reach it before its parent has stopped what uses it.
	// When the parent is killed, the end of standard input has the cluster remove its temporary folder.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if opts.Registry && CheckPods() == nil {
		becomeRoot(cmd.SysProcAttr)
	}
	cmd.WaitDelay = StopTimeout
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	paths := make(chan string, 1)
	cmd.Stdout = &lines{handle: func(line string) {
		select {
		case paths <- line:
		default:
		}
	}}
	cmd.Stderr = &lines{handle: func(line string) {
		c.last.add(strings.TrimPrefix(line, "localcluster: "))
		fmt.Fprintln(opts.Log, line)
	}}
	if c.group, err = procgroup.Start(cmd); err != nil {
		return nil, fmt.Errorf("starting the control plane: %w", err)
	}
	go func() {
		c.finish(c.group.Err())
		close(c.done)
	}()
	return paths, nil
}

// finish notes how the process ended. Unless a stop was requested, even a clean exit is an error.
func (c *Cluster) finish(err error) {
	if err == nil && !c.stopping.Load() {
		err = errors.New("it was stopped by another program")
	}
	if err != nil {
		c.err = c.last.explain(err)
	}
}

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string { return c.kubeconfig }

// Dir is the folder of the cluster's files.
func (c *Cluster) Dir() string { return filepath.Dir(c.kubeconfig) }

// AuditLog is the path of the audit log: one JSON object a line for each request that was answered.
func (c *Cluster) AuditLog() string { return AuditLog(c.Dir()) }

// AuditLog is the path of the audit log of the cluster whose files are in a folder.
func AuditLog(dir string) string { return filepath.Join(dir, "audit.log") }

// PID is the process id of the cluster.
func (c *Cluster) PID() int { return c.group.PID() }

// Done is closed when the cluster has exited, whatever the cause.
func (c *Cluster) Done() <-chan struct{} { return c.done }

// Err waits for Done, and returns the reason for the exit of the cluster: its exit code and its last lines if it failed or another program
// stopped it, or nil if Stop ended it in order.
func (c *Cluster) Err() error {
	<-c.done
	return c.err
}

// Stop ends the cluster and returns when it has exited: in order, or by killing it when that takes too long or the context
// ends, which is an error. It may be called more than once, and of a cluster that has ended it returns the Err.
func (c *Cluster) Stop(ctx context.Context) error {
	c.stopping.Store(true)
	// Either of the two is enough; a process that has exited needs no signal.
	_ = c.stdin.Close()
	_ = c.group.Signal(syscall.SIGTERM)
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
	case <-time.After(StopTimeout):
	}
	err := c.group.Kill()
	<-c.done
	if c.temp && c.kubeconfig != "" {
		_ = os.RemoveAll(c.Dir())
	}
	return fmt.Errorf("the control plane did not stop in order and was killed: %w", errors.Join(c.err, err))
}
