/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	// terminateWithin is the time that a process group has after SIGTERM.
	terminateWithin = 2 * time.Second
	// readWithin is the time for which the output is read after the end of the group. A process that left the group may hold it open.
	readWithin = time.Second
)

// runGroup runs a command as the leader of a process group, and reads its output. It returns when no process of the group runs. When ctx ends,
// the group receives SIGTERM, and SIGKILL after terminateWithin. If an ancestor of ctx ended, another process may lead, and the group receives
// SIGKILL at once.
func runGroup(ctx context.Context, cmd *exec.Cmd, out *output) error {
	var readers []*os.File
	var reading sync.WaitGroup
	for stream, target := range map[string]*io.Writer{"stdout": &cmd.Stdout, "stderr": &cmd.Stderr} {
		reader, writer, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("creating a pipe: %w", err)
		}
		*target = writer
		readers = append(readers, reader)
		reading.Go(func() { out.read(stream, reader) })
	}
	defer func() {
		for _, reader := range readers {
			_ = reader.SetReadDeadline(time.Now().Add(readWithin)) // pipes have deadlines
		}
		reading.Wait()
		for _, reader := range readers {
			_ = reader.Close() // only read
		}
	}()
	await, err := startGroup(cmd)
	closeAll(cmd)
	if err != nil {
		return err
	}
	return await(ctx)
}

func closeAll(cmd *exec.Cmd) {
	for _, w := range []io.Writer{cmd.Stdout, cmd.Stderr} {
		if file, ok := w.(*os.File); ok {
			_ = file.Close() // the process has its own
		}
	}
}

// startGroup starts a command as the leader of a process group. await returns how it ended, or ends it when ctx does.
func startGroup(cmd *exec.Cmd) (await func(ctx context.Context) error, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting it: %w", err)
	}
	var exit error
	ended := make(chan struct{})
	go func() {
		exit = cmd.Wait()
		close(ended)
	}()
	return func(ctx context.Context) error {
		defer killRest(cmd.Process.Pid)
		if cause := endWith(ctx, cmd.Process.Pid, ended); cause != nil {
			return cause
		}
		return exit //nolint:wrapcheck // the exit status
	}, nil
}

// endWith waits for the end of the leader. If ctx ends before, it ends the group, and returns why.
func endWith(ctx context.Context, group int, ended <-chan struct{}) error {
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, errTimeout) || errors.Is(cause, errEnding) {
		signalTo(-group, syscall.SIGTERM)
		select {
		case <-ended:
			return cause
		case <-time.After(terminateWithin):
		}
	}
	signalTo(-group, syscall.SIGKILL)
	<-ended
	return cause
}

// signalTo sends a signal to a process, or to a group by its negative number. It fails only if the group no longer exists.
func signalTo(process int, signal syscall.Signal) { _ = syscall.Kill(process, signal) }

// killRest kills what the leader left behind. As the first process of a container, this process is the parent of what has lost its own.
func killRest(group int) {
	signalTo(-group, syscall.SIGKILL)
	for {
		_, err := syscall.Wait4(-group, nil, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// mostPasses bounds the searches for processes that other ones start concurrently.
const mostPasses = 10

// killEscaped kills the processes that have a variable in their environment, also those that have left the group. It finds them where the
// system has /proc.
func killEscaped(variable string) {
	for range mostPasses {
		found := false
		environments, _ := filepath.Glob("/proc/[0-9]*/environ") // it fails for a wrong pattern only
		for _, path := range environments {
			content, err := os.ReadFile(path) //nolint:gosec // of /proc
			if err != nil || !bytes.Contains(content, []byte(variable+"\x00")) {
				continue
			}
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && pid != os.Getpid() {
				found = true
				signalTo(pid, syscall.SIGKILL)
				_, _ = syscall.Wait4(pid, nil, 0, nil) // it fails for a process that is no child
			}
		}
		if !found {
			return
		}
	}
}
