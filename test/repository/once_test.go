/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestModules_UnchangedSinceTheyPassed_AreNotTestedAgain runs once of hack/modules.sh in a separate repository.
func TestModules_UnchangedSinceTheyPassed_AreNotTestedAgain(t *testing.T) {
	repository, cache := t.TempDir(), t.TempDir()
	write := func(path, content string) {
		t.Helper()
		path = filepath.Join(repository, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(script string) (output string, err error) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-c", "set -o errexit -o nounset -o pipefail\nsource hack/modules.sh\n"+script)
		cmd.Dir, cmd.Env = repository, append(os.Environ(), "XDG_CACHE_HOME="+cache)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	write("hack/modules.sh", read(t, "hack/modules.sh"))
	write("go.mod", "module example.com/m\n")
	write(".golangci.yaml", "")
	write("side/side.go", "package side\n")
	write("import/import.go", "package import\n")
	write("other/other.go", "package other\n")
	if out, err := run("git init --quiet"); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for _, step := range []struct {
		name   string
		change func()
		script string
		runs   bool
		fails  bool
	}{
		{name: "fails", script: `once "side import" eval "echo ran; false"`, runs: true, fails: true},
		{name: "failed before", script: `once "side import" eval "echo ran; false"`, runs: true, fails: true},
		{name: "passes", script: `once "side import" echo ran`, runs: true},
		{name: "unchanged", script: `once "side import" echo ran`},
		{name: "unchanged, with -count 1", script: `flags=(-count 1); once "side import" echo ran`, runs: true},
		{name: "other flags", script: `flags=(-race); once "side import" echo ran`, runs: true},
		{name: "another command", script: `once "side import" echo ran too`, runs: true},
		{name: "another folder changed", change: func() { write("other/other.go", "package another\n") }, script: `once "side import" echo ran`},
		{name: "the module changed", change: func() { write("side/side.go", "package side // changed\n") }, script: `once "side import" echo ran`, runs: true},
		{name: "its import changed", change: func() { write("import/new.go", "package import\n") }, script: `once "side import" echo ran`, runs: true},
		{name: "the scripts changed", change: func() { write("hack/test.sh", "") }, script: `once "side import" echo ran`, runs: true},
		{name: "changed back", change: func() { write("hack/test.sh", "changed"); write("hack/test.sh", "") }, script: `once "side import" echo ran`},
		{name: "no such folder", script: `once "gone import" echo ran`},
		{name: "folder without code", script: `once "hack import" echo ran`},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.change != nil {
				step.change()
			}
			out, err := run(step.script)
			if ran := strings.HasPrefix(out, "ran"); ran != step.runs || (err != nil) != step.fails {
				t.Errorf("the command ran: %t, %v, want %t and a failure: %t\n%s", ran, err, step.runs, step.fails, out)
			}
		})
	}
}
