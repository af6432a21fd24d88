/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package podworker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mallard-dev/mallard/localcluster/internal/processnode/container"
)

const (
	// maxOutput is the size of a probe's output that is kept, in bytes.
	maxOutput = 10 << 10
	// drain is the time for which the rest of a command's output is awaited when it has ended.
	drain = time.Second
)

// Exec runs a command in a container, and returns its exit code.
func (w *Worker) Exec(ctx context.Context, name string, command []string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	_, spec, ok := w.Process(name)
	if !ok {
		return 0, fmt.Errorf("container %s does not run", name)
	}
	return w.exec(ctx, spec, command, stdin, stdout, stderr)
}

// command is Exec for probes.
func (w *Worker) command(ctx context.Context, spec container.Spec, command []string) (string, int, error) {
	output := &limited{limit: maxOutput}
	code, err := w.exec(ctx, spec, command, nil, output, output)
	if errors.Is(err, context.DeadlineExceeded) {
		return "", 0, errors.New("command timed out")
	}
	return output.String(), code, err
}

func (w *Worker) exec(
	ctx context.Context, spec container.Spec, command []string, stdin io.Reader, stdout, stderr io.Writer,
) (code int, err error) {
	path, err := container.Look(spec.Root, command[0], spec.Env)
	if err != nil {
		return 0, err
	}
	if !w.node.Runtime.Isolated() {
		path = filepath.Join(spec.Root, path)
	}
	spec.Path, spec.Args = path, command
	var copies pipes
	defer copies.close()
	if spec.Stdout, err = copies.from(stdout); err != nil {
		return 0, err
	}
	if spec.Stderr, err = copies.from(stderr); err != nil {
		return 0, err
	}
	if stdin != nil {
		if spec.Stdin, err = copies.to(stdin); err != nil {
			return 0, err
		}
	}
	process, err := w.node.Runtime.Start(spec)
	copies.started()
	if err != nil {
		return 0, err
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		process.Kill()
		<-process.Done()
		return 0, fmt.Errorf("running the command: %w", ctx.Err())
	case <-w.kill.Done():
		process.Kill()
		<-process.Done()
		return 0, errors.New("the container has ended")
	}
	code, _ = process.Result()
	return code, nil
}

// pipes connect a process with streams that are no files.
type pipes struct {
	theirs, ours []*os.File
	outputs      sync.WaitGroup
}

func (p *pipes) from(to io.Writer) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	p.theirs, p.ours = append(p.theirs, write), append(p.ours, read)
	if to == nil {
		to = io.Discard
	}
	p.outputs.Go(func() { _, _ = io.Copy(to, read) })
	return write, nil
}

func (p *pipes) to(from io.Reader) (*os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	p.theirs = append(p.theirs, read)
	go func() {
		// It ends when the client has sent everything, or the process has ended.
		_, _ = io.Copy(write, from)
		_ = write.Close()
	}()
	return read, nil
}

func (p *pipes) started() {
	for _, file := range p.theirs {
		_ = file.Close()
	}
	p.theirs = nil
}

func (p *pipes) close() {
	p.started()
	for _, file := range p.ours {
		_ = file.SetReadDeadline(time.Now().Add(drain))
	}
	p.outputs.Wait()
	for _, file := range p.ours {
		_ = file.Close()
	}
}

// limited keeps the first bytes that are written to it.
type limited struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	limit int
}

func (l *limited) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := l.limit - l.buf.Len(); left > 0 {
		l.buf.Write(data[:min(left, len(data))])
	}
	return len(data), nil
}

func (l *limited) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
