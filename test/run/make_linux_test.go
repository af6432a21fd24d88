/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// terminal opens a pseudoterminal: what a user types is written to the first file, and a program has the second one.
func terminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return user, program
}

// TestMakeRun_InterruptOnATerminal_EndsWithStatus0 types Ctrl-C, which a terminal sends to every process of its foreground group.
func TestMakeRun_InterruptOnATerminal_EndsWithStatus0(t *testing.T) {
	t.Parallel()
	module, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	user, program := terminal(t)
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "run")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = module, program, program, program
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "MAKEFLAGS=", "MAKELEVEL=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close()
	var printed strings.Builder
	typed := false
	// Reading fails once the last process has closed the terminal.
	for lines := bufio.NewScanner(user); lines.Scan(); {
		printed.WriteString(lines.Text() + "\n")
		if !typed && strings.Contains(lines.Text(), "Operator ready") {
			typed = true
			if _, err := user.WriteString("\x03"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil || !typed || !strings.Contains(printed.String(), "Stopped") || strings.Contains(printed.String(), "make:") {
		t.Errorf("make ended with %v and printed:\n%s", err, printed.String())
	}
}
