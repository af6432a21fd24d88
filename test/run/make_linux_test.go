//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"github.com/mallard-dev/mallard/hack/recording/animation"
	"github.com/mallard-dev/mallard/hack/recording/terminal"
	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// recording contains the screen of `make run` that README.md shows.
const recording = "docs/images/make-run.svg"

// TestMakeRun_OnATerminal_ShowsTheRecordingUntilInterrupted waits until the screen is that at the end of the recording, and types Ctrl-C,
// which a terminal sends to every process of its foreground group.
func TestMakeRun_OnATerminal_ShowsTheRecordingUntilInterrupted(t *testing.T) {
	t.Parallel()
	module, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	want := recorded(t, filepath.Join(module, recording))
	cmd := exec.CommandContext(t.Context(), "make", "--no-print-directory", "run")
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "MAKEFLAGS=", "MAKELEVEL=")
	user, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 250, Rows: 60})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := user.Close(); err != nil {
			t.Error("closing the terminal:", err)
		}
	})
	interrupt := sync.OnceFunc(func() {
		if _, err := user.WriteString("\x03"); err != nil {
			t.Error("typing Ctrl-C:", err)
		}
	})
	defer time.AfterFunc(5*time.Minute, interrupt).Stop()
	var screen terminal.Screen
	var closest []string
	// Reading fails once the last process has closed the terminal.
	for buffer := make([]byte, 1<<16); ; {
		n, err := user.Read(buffer)
		if _, err := screen.Write(buffer[:n]); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			break
		}
		if slices.Equal(closest, want) {
			continue
		}
		if closest = normalized(screen.Lines()); slices.Equal(closest, want) {
			interrupt()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error("make run:", err)
	}
	if !slices.Equal(closest, want) {
		t.Errorf("%s is not current, run make recording (-recording +make run):\n%s", recording, cmp.Diff(want, closest))
	}
	if printed := strings.Join(screen.Lines(), "\n"); !strings.Contains(printed, "Stopped") || strings.Contains(printed, "make:") {
		t.Errorf("make printed:\n%s", printed)
	}
}

// recorded returns the last screen of the recording without its first line, the command.
func recorded(t *testing.T, path string) []string {
	t.Helper()
	svg, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := animation.Last(bytes.NewReader(svg))
	if err != nil || len(lines) == 0 {
		t.Fatalf("%s has %d lines: %v", recording, len(lines), err)
	}
	return normalized(lines[1:])
}

// normalized returns the lines in the order of the alphabet: the control plane and the operator are built concurrently. Announcements of
// steps are left out, since one stays on the screen if another step ends first.
func normalized(lines []string) []string {
	var result []string
	for _, line := range lines {
		if !strings.HasPrefix(line, "  ") || !strings.HasSuffix(line, " …") {
			result = append(result, animation.Normalize(line))
		}
	}
	slices.Sort(result)
	return result
}
