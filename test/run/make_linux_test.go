//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// sample matches a line of README.md about an object that make run reports without a terminal.
var sample = regexp.MustCompile(`(?m)^[\d:]+  (\w+)/(\S+)  READY=True`)

// TestMakeRun_OnATerminal_ShowsATableUntilInterrupted waits until the samples of README.md are Ready in the table, and types Ctrl-C, which a
// terminal sends to every process of its foreground group.
func TestMakeRun_OnATerminal_ShowsATableUntilInterrupted(t *testing.T) {
	t.Parallel()
	module, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(module, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	samples := sample.FindAllStringSubmatch(string(readme), -1)
	if len(samples) == 0 {
		t.Fatal("README.md shows no object")
	}
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
	var output strings.Builder
	ready := false
	// Reading fails once the last process has closed the terminal.
	for buffer := make([]byte, 1<<16); ; {
		n, err := user.Read(buffer)
		output.Write(buffer[:n])
		if err != nil {
			break
		}
		if ready = ready || showsReady(output.String(), samples); ready {
			interrupt()
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Error("make run:", err)
	}
	if printed := output.String(); !ready || !strings.Contains(printed, "Stopped") || strings.Contains(printed, "make:") {
		t.Errorf("make printed:\n%s", printed)
	}
}

// showsReady reports whether all samples are Ready in the table. To draw the table again, make run erases everything below its beginning.
func showsReady(output string, samples [][]string) bool {
	const erase = "\x1b[J"
	_, table, found := strings.Cut(output[max(0, strings.LastIndex(output, erase)):], erase+"NAMESPACE ")
	if !found {
		return false
	}
	ready := make(map[string]bool)
	for row := range strings.Lines(table) {
		if fields := strings.Fields(row); len(fields) > 2 && fields[2] == "True" {
			ready[fields[0]+"/"+fields[1]] = true
		}
	}
	for _, match := range samples {
		if !ready[match[1]+"/"+match[2]] {
			return false
		}
	}
	return true
}
