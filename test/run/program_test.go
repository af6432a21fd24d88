//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
	"github.com/mallard-dev/mallard/localcluster/env/harness"
	"github.com/mallard-dev/mallard/localcluster/env/procgroup"
)

// patience bounds a wait for a line or an end. The first run on a machine builds the control plane; the tests of this
// package come after that, but the machine may be busy.
const patience = 3 * time.Minute

// binary is the program, built by TestMain.
var binary string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "mallard-test-run-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "making a folder:", err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary = filepath.Join(dir, "run")
	build := exec.Command("go", "build", "-o", binary, "github.com/mallard-dev/mallard/localcluster/env/cmd/run")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "building the program:", err)
		return 1
	}
	return harness.MainWithoutEnvironment(m)
}

// program is one run of the program.
type program struct {
	t     *testing.T
	group *procgroup.Group
	// temp is the folder in which it makes its own.
	temp   string
	mu     sync.Mutex
	output bytes.Buffer
	lines  chan struct{}
	ended  chan struct{}
}

// start starts the program with arguments and additions to its environment.
func start(t *testing.T, env []string, args ...string) *program {
	t.Helper()
	return startCommand(t, env, binary, args...)
}

// startCommand starts a command that starts the program, with nothing to read.
func startCommand(t *testing.T, env []string, command string, args ...string) *program {
	t.Helper()
	module, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, temp: t.TempDir(), lines: make(chan struct{}, 1), ended: make(chan struct{})}
	cmd := exec.Command(command, args...)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), append([]string{"TMPDIR=" + p.temp}, env...)...)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	p.group, err = procgroup.Start(cmd)
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	harness.Search("what the program of "+t.Name()+" prints", p.text)
	go p.collect(read)
	t.Cleanup(func() {
		if err := p.group.Kill(); err != nil {
			t.Error(err)
		}
		<-p.ended
		if t.Failed() {
			t.Logf("%s %v printed:\n%s", filepath.Base(command), args, p.text())
		}
	})
	return p
}

func (p *program) collect(from io.ReadCloser) {
	defer close(p.ended)
	defer func() { _ = from.Close() }()
	for in := bufio.NewReader(from); ; {
		line, err := in.ReadBytes('\n')
		p.mu.Lock()
		p.output.Write(line)
		p.mu.Unlock()
		select {
		case p.lines <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// await waits until each of the texts has been printed.
func (p *program) await(texts ...string) {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		missing := ""
		for _, text := range texts {
			if !strings.Contains(p.text(), text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		select {
		case <-p.lines:
		case <-p.ended:
			if strings.Contains(p.text(), missing) {
				continue
			}
			p.t.Fatalf("it ended without printing %q", missing)
		case <-timer.C:
			p.t.Fatalf("it did not print %q within %v", missing, patience)
		}
	}
}

// signal sends a signal to the program alone, as a shell's kill does.
func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(p.group.PID(), s); err != nil {
		p.t.Fatalf("sending %v: %v", s, err)
	}
}

// freeze stops the processes of the run that have a text in their command line from running, so that they do not end by themselves.
func (p *program) freeze(text string) {
	p.t.Helper()
	processes, err := processesNaming(p.t.Context(), p.temp)
	if err != nil {
		p.t.Fatal(err)
	}
	frozen := 0
	for _, process := range processes {
		pid, command, _ := strings.Cut(process, " ")
		if !strings.Contains(command, text) {
			continue
		}
		number, err := strconv.Atoi(pid)
		if err == nil {
			err = syscall.Kill(number, syscall.SIGSTOP)
		}
		if err != nil {
			p.t.Fatalf("freezing process %s: %v", process, err)
		}
		frozen++
	}
	if frozen == 0 {
		p.t.Fatalf("no process of the run has %q in its command line: %q", text, processes)
	}
}

// exit waits for the end, of the output too, and returns the exit status.
func (p *program) exit() int {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for _, end := range []<-chan struct{}{p.group.Done(), p.ended} {
		select {
		case <-end:
		case <-timer.C:
			p.t.Fatalf("it did not end within %v", patience)
		}
	}
	var exit *exec.ExitError
	switch err := p.group.Err(); {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	default:
		p.t.Fatalf("it ended in an odd way: %v", err)
		return -1
	}
}

// leavesNoProcess fails the test unless every process of the run exits before long.
func (p *program) leavesNoProcess() {
	p.t.Helper()
	harness.Eventually(p.t, "no process of the run is left", func(ctx context.Context) error {
		left, err := processesNaming(ctx, p.temp)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left are %q", left)
		}
		return err
	})
}

// leavesNothing fails the test unless every process of the run has exited and its folder is deleted.
func (p *program) leavesNothing() {
	p.t.Helper()
	p.leavesNoProcess()
	entries, err := os.ReadDir(p.temp)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, entry := range entries {
		p.t.Errorf("%s is left in the folder for temporary files", entry.Name())
	}
}

// leavesLogsOf fails the test unless every process of the run has exited, and of its folder only the logs of these processes are left.
func (p *program) leavesLogsOf(names ...string) {
	p.t.Helper()
	p.leavesNoProcess()
	var left, want []string
	for _, name := range names {
		want = append(want, name+".log")
	}
	err := filepath.WalkDir(p.temp, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			left = append(left, filepath.Base(path))
		}
		return err
	})
	if err != nil || !slices.Equal(left, want) {
		p.t.Errorf("left in the folder for temporary files are %q (%v), want %q", left, err, want)
	}
}

// processesNaming lists the processes in whose command line or environment a text occurs. Everything that a run starts
// has the folder of the run in one of them.
func processesNaming(ctx context.Context, text string) ([]string, error) {
	if runtime.GOOS != "linux" {
		out, err := exec.CommandContext(ctx, "ps", "-A", "-E", "-ww", "-o", "pid=,command=").Output()
		if err != nil {
			return nil, fmt.Errorf("listing processes: %w", err)
		}
		var found []string
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, text) {
				found = append(found, strings.TrimSpace(line))
			}
		}
		return found, nil
	}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	var found []string
	for _, folder := range folders {
		// A process that exits concurrently is one less.
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		environment, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if bytes.Contains(command, []byte(text)) || bytes.Contains(environment, []byte(text)) {
			found = append(found, filepath.Base(folder)+" "+strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found, nil
}
