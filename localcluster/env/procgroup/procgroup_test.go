/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package procgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// role makes the test binary play one of the processes that the tests start.
const role = "PROCGROUP_TEST_ROLE"

// deadline bounds every wait.
const deadline = 30 * time.Second

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "brief":
		os.Exit(3)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		wait()
	case "parent":
		child := command("stubborn")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
		wait()
	case "lasting":
		fmt.Println("ready")
		wait()
	}
}

// wait waits for a signal that ends the process, and no longer than a test may take.
func wait() { <-time.After(2 * deadline) }

// command runs this test binary in a role.
func command(name string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+name)
	return cmd
}

// launch starts a role and waits until it has written the first byte.
func launch(t *testing.T, name string) *Group {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(name)
	cmd.Stdout, cmd.Stderr = write, write
	g, err := Start(cmd)
	_ = write.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Kill(); err != nil {
			t.Error(err)
		}
		_ = read.Close()
	})
	if err := read.SetReadDeadline(time.Now().Add(deadline)); err != nil {
		t.Fatal(err)
	}
	if _, err := read.Read(make([]byte, 1)); err != nil {
		t.Fatalf("waiting until %s is ready: %v", name, err)
	}
	return g
}

func status(err error) syscall.WaitStatus {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0
	}
	s, _ := exit.Sys().(syscall.WaitStatus)
	return s
}

func TestRun_ProcessExits_ReturnsItsStatus(t *testing.T) {
	t.Parallel()
	if got := status(Run(t.Context(), command("brief"), deadline)).ExitStatus(); got != 3 {
		t.Errorf("got exit status %d, want 3", got)
	}
	if err := Run(t.Context(), exec.Command("/nonexistent"), deadline); err == nil || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("of a program that does not exist: got %v, want an error that names it", err)
	}
}

func TestRun_ContextCanceled_StopsTheProcess(t *testing.T) {
	t.Parallel()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := Run(ctx, command("lasting"), deadline); !errors.Is(err, cause) {
		t.Errorf("before the start: got %v, want the cause", err)
	}
	ctx, stop := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer stop()
	if err := Run(ctx, command("lasting"), deadline); !errors.Is(err, cause) {
		t.Errorf("after the start: got %v, want the cause", err)
	}
}

func TestStop_Process_ReceivesSIGTERMFirst(t *testing.T) {
	t.Parallel()
	g := launch(t, "lasting")
	if err := g.Stop(t.Context(), deadline); err != nil {
		t.Fatal(err)
	}
	if got := status(g.Err()); !got.Signaled() || got.Signal() != syscall.SIGTERM {
		t.Errorf("got %v, want an end by SIGTERM", g.Err())
	}
	if err := g.Stop(t.Context(), deadline); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

func TestStop_GracePeriodOver_KillsTheProcess(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*Group) error{
		"grace": func(g *Group) error { return g.Stop(t.Context(), time.Millisecond) },
		"context": func(g *Group) error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			return g.Stop(ctx, deadline)
		},
	} {
		g := launch(t, "stubborn")
		if err := stop(g); err != nil {
			t.Fatal(err)
		}
		if got := status(g.Err()); !got.Signaled() || got.Signal() != syscall.SIGKILL {
			t.Errorf("%s: got %v, want an end by SIGKILL", name, g.Err())
		}
	}
}

func TestStop_ChildProcesses_AreStoppedToo(t *testing.T) {
	t.Parallel()
	// It waits for the first byte of the child.
	g := launch(t, "parent")
	if !slices.Contains(Alive(), g.PID()) {
		t.Errorf("Alive() = %v, want the group %d in it", Alive(), g.PID())
	}
	if err := g.Stop(t.Context(), deadline); err != nil {
		t.Fatal(err)
	}
	// The child has been sent SIGKILL; until its new parent has reaped it, it counts as a member of the group.
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	for slices.Contains(Alive(), g.PID()) {
		if ctx.Err() != nil {
			t.Fatalf("some process of group %d is left", g.PID())
		}
	}
}
