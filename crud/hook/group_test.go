/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"k8s.io/apimachinery/pkg/util/wait"
)

// A process of hooks receives SIGKILL during a run. The next one ends its programs, also one that left the group of its hook, and removes its folder.
func TestLoad_ProcessWasKilled_EndsItsProgramsAndRemovesItsFolders(t *testing.T) {
	const variable = "TEST_OF_A_KILLED_PROCESS"
	if folder := os.Getenv(variable); folder != "" { // this is the process
		hooks, err := Load(t.Context(), filepath.Join(folder, "hooks"), Options{Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		_, err = hooks[0].call(t.Context(), &Run{Logger: zap.NewNop().Sugar()})
		t.Fatal("the run has ended:", err)
	}
	folder := t.TempDir()
	script := `#!/bin/bash
if [[ "${1:-}" == --config ]]; then echo '{configVersion: v1, onStartup: 1}'; exit; fi
sleep 1000 &
echo $! >>` + folder + `/pids
setsid sleep 1000 &
echo $! $$ >>` + folder + `/pids
mkdir -p "$TMPDIR/a/b"; chmod 000 "$TMPDIR/a"
mv ` + folder + `/pids ` + folder + `/all
wait`
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "hooks"), 0o700), os.WriteFile(filepath.Join(folder, "hooks", "it"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:noctx // it is killed
	killed.Env = append(os.Environ(), variable+"="+folder)
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	t.Cleanup(func() { removeAbandoned(folder) }) //nolint:errcheck // if the test fails
	eventually := func(what string, check func() bool) {
		t.Helper()
		if wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) { return check(), nil }) != nil {
			t.Fatal(what)
		}
	}
	eventually("the hook does not run", func() bool {
		content, _ := os.ReadFile(filepath.Join(folder, "all")) // written later
		pids = strings.Fields(string(content))
		return len(pids) == 3
	})
	dead := func() (n int) {
		for _, pid := range pids {
			status, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
			if errors.Is(err, fs.ErrNotExist) || strings.Contains(string(status), "State:\tZ") {
				n++
			}
		}
		return n
	}
	load := func() (left []string) {
		if _, err := Load(t.Context(), filepath.Join(folder, "hooks"), Options{Folder: folder}); err != nil {
			t.Fatal(err)
		}
		left, _ = filepath.Glob(filepath.Join(folder, runFolder+"*"))
		return left
	}
	if left := load(); len(left) != 1 || dead() != 0 {
		t.Fatalf("another process ended %d programs of one that runs, and its folders are %v", dead(), left)
	}
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // killed
	if left := load(); len(left) > 0 {
		t.Errorf("the folders %v are left", left)
	}
	eventually("a program runs", func() bool { return dead() == len(pids) })
}

func TestOutput_EndlessProgram_IsTruncated(t *testing.T) {
	var printed output
	n, err := io.Copy(&printed, io.LimitReader(strings.NewReader(strings.Repeat("value\n", mostOfOutput)), 2*mostOfOutput))
	if err != nil || n != 2*mostOfOutput {
		t.Errorf("the program waits after %d bytes: %v", n, err)
	}
	core, logs := observer.New(zap.InfoLevel)
	printed.log(zap.New(core).Sugar(), func(text string) string { return strings.ReplaceAll(text, "value", "***") })
	if len(printed.kept) != mostOfOutput || logs.Len() != mostLines+1 || logs.FilterField(zap.String("line", "***")).Len() != mostLines {
		t.Errorf("%d bytes are kept, and %d lines logged: %v", len(printed.kept), logs.Len(), logs.All()[0])
	}
}

func TestOutput_NotUTF8AndALongLine_AreReplacedAndCut(t *testing.T) {
	var printed output
	if _, err := io.WriteString(&printed, "before \xff after\r\n"+strings.Repeat("x", 100<<10)); err != nil { // without a line break
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	printed.log(zap.New(core).Sugar(), func(text string) string { return text })
	for i, want := range []string{"before \uFFFD after", strings.Repeat("x", mostOfLine)} {
		if entries := logs.All(); len(entries) != 2 || entries[i].ContextMap()["line"] != want {
			t.Errorf("line %d of %d is not %.20q: %.300s", i, len(entries), want, fmt.Sprint(entries))
		}
	}
}
