/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// startLimit and stopLimit are far above what is usual, for machines that are busy with other things.
	startLimit = 90 * time.Second
	stopLimit  = 20 * time.Second
	// waitLimit bounds the wait for anything that happens within a cluster.
	waitLimit = 30 * time.Second

	pollInterval = 5 * time.Millisecond
)

// process is a running program.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	// first delivers the first line of standard output, which is the kubeconfig's path.
	first  chan string
	done   chan struct{}
	err    error
	stderr buffer

	kubeconfig string
}

// buffer can be read while it is written to.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// spawn starts the program and does not wait for anything.
func spawn(args ...string) (*process, error) { return spawnCommand(exec.Command(binary, args...)) }

func spawnCommand(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, first: make(chan string, 1), done: make(chan struct{})}
	p.cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		scanner := bufio.NewScanner(stdout)
		for scanner.Scan() {
			select {
			case p.first <- scanner.Text():
			default:
			}
		}
		p.err = p.cmd.Wait()
	}()
	return p, nil
}

// launch starts a cluster and waits until it is ready.
func launch(args ...string) (*process, error) {
	p, err := spawn(args...)
	if err != nil {
		return nil, err
	}
	return p, p.waitReady()
}

func (p *process) waitReady() error {
	select {
	case p.kubeconfig = <-p.first:
		return nil
	case <-p.done:
		return fmt.Errorf("it ended before it was ready: %w\n%s", p.err, p.stderr.String())
	case <-time.After(startLimit):
		p.kill()
		return fmt.Errorf("not ready after %s\n%s", startLimit, p.stderr.String())
	}
}

// up starts a cluster for one test, which ends with the test.
func up(t *testing.T, args ...string) *process {
	t.Helper()
	p, err := launch(append([]string{"up"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	return p
}

// sharedCluster returns the cluster that tests share.
func sharedCluster(t *testing.T) *process {
	t.Helper()
	p, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) pid() int    { return p.cmd.Process.Pid }
func (p *process) dir() string { return filepath.Dir(p.kubeconfig) }

func (p *process) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("sending %v: %v", sig, err)
	}
}

// wait returns the exit code, or fails the test when the program does not end.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(stopLimit):
		p.kill()
		t.Fatalf("still running %s after it should have ended\n%s", stopLimit, p.stderr.String())
		return -1
	}
}

// end stops the program if it still runs.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(stopLimit):
		p.kill()
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func (p *process) client(t *testing.T) kubernetes.Interface {
	t.Helper()
	return newClient(t, p.config(t))
}

func newClient(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually waits until a check returns nil, and reports its last error when it does not.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within %s: %v", what, waitLimit, err)
		case <-ticker.C:
		}
	}
}

// oneErrorLine checks that the program printed exactly one line with the error, which contains all the given words.
func (p *process) oneErrorLine(t *testing.T, words ...string) {
	t.Helper()
	text := strings.TrimSpace(p.stderr.String())
	if strings.Contains(text, "\n") {
		// A cluster that was ready before has said so.
		var kept []string
		for line := range strings.Lines(text) {
			if !strings.Contains(line, " is ready at ") {
				kept = append(kept, strings.TrimSpace(line))
			}
		}
		text = strings.Join(kept, "\n")
	}
	if strings.Contains(text, "\n") || !strings.HasPrefix(text, "localcluster: ") {
		t.Fatalf("standard error should be one line that begins with %q:\n%s", "localcluster: ", text)
	}
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("the error should contain %q:\n%s", word, text)
		}
	}
}
