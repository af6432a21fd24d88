//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mallard-dev/mallard/conversion/conversiontest/testrand"
)

// These bound the hand-written code of a fork, without tests and test/: its own, that of the program that updates it, and that of the generator of
// its CRDs and of its reference.
const mostOwn, mostOfTemplate, mostOfTools = 2660, 1300, 1640

// everyProduct leaves out all products. The libraries among them come from the module proxy.
const everyProduct = "conversion,crud,hardening,hooks,localcluster,migrate,observer"

// Forks that keep one kind of one version, or two, pass their checks and their unit tests. They have the same names, so that the second one compiles
// only what it has more.
func TestFork_FewKindsOfOneVersion_IsComplete(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	maps.Copy(variables, map[string]string{"KINDS": "AddressableService", "VERSIONS": "v1", "WITHOUT": everyProduct})
	removeCache(t, variables)
	t.Run("OneKind", func(t *testing.T) {
		fork := template.fork(t, variables)
		fork.expectSound(t, variables)
		fork.expectFewLines(t)
		fork.Run(t, "go", "list", "-export", "-test", "./...") // compiles all tests
		fork.expectInstalls(t)
	})
	variables["KINDS"] += ",SimpleDeployment"
	t.Run("TwoKinds", func(t *testing.T) {
		template.fork(t, variables).expectSound(t, variables)
	})
}

// A fork of everything passes the same. Its tests try fewer random inputs than those of the template, which are the same.
func TestFork_AllKinds_IsComplete(t *testing.T) {
	template, variables := newTemplate(t), randomNames(rand.New(testrand.SourceFor(t, 1)))
	removeCache(t, variables)
	template.fork(t, variables).expectSound(t, variables)
}

// expectSound expects a fork that has no old name and no dead link, passes its checks and its unit tests, and runs. Part forks of make test-nightly runs all tests.
func (r repository) expectSound(t *testing.T, variables map[string]string) {
	t.Helper()
	r.expectNoOldNames(t, variables)
	if kinds := variables["KINDS"]; kinds != "" {
		r.expectReference(t, kinds)
	}
	r.expectChecks(t)
	r.Run(t, "make", "test", "PARTS=units", "ARGS=-short")
	r.expectReady(t)
}

// expectChecks runs make verify, and the linters that need no types. The others see the same types under other names and take minutes in each fork.
// codegen also shows that the code that make fork renames is what the generators write.
func (r repository) expectChecks(t *testing.T) {
	t.Helper()
	r.Run(t, "make", "verify")
	r.Run(t, "make", "lint", "ARGS=--fast-only")
}

// expectReady runs the fork's operator, until every sample is Ready.
func (r repository) expectReady(t *testing.T) {
	t.Helper()
	if out := r.Run(t, "make", "run", "WAIT=ready"); !strings.Contains(out, "Ready") {
		t.Errorf("make run prints no Ready:\n%s", out)
	}
}

// expectFewLines counts the lines of hand-written Go.
func (r repository) expectFewLines(t *testing.T) {
	t.Helper()
	lines := map[string]int{}
	for _, path := range r.Files(t, "*.go") {
		content := r.Read(t, path)
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "test/") || strings.Contains(path, "/testdata/") || strings.Contains(content, "\n// Code generated ") {
			continue
		}
		owner := "own"
		for _, folder := range []string{"hack/template", "hack/tools"} {
			if strings.HasPrefix(path, folder+"/") {
				owner = folder
			}
		}
		lines[owner] += strings.Count(content, "\n")
	}
	t.Logf("lines of a fork: %v", lines)
	for owner, most := range map[string]int{"own": mostOwn, "hack/template": mostOfTemplate, "hack/tools": mostOfTools} {
		if lines[owner] > most {
			t.Errorf("a fork has %d lines of %s, want at most %d", lines[owner], owner, most)
		}
	}
}

// An interruption ends the generators too, so that none of them writes a file after the fork is removed.
func TestMakeFork_Interrupted_LeavesNothing(t *testing.T) {
	template := newTemplate(t)
	program := filepath.Join(t.TempDir(), "template")
	template.Run(t, "go", "build", "-o", program, "./hack/template")
	for name, tc := range map[string]struct {
		signal    os.Signal
		generator string
		want      string
	}{
		"ByTheTerminal":     {os.Interrupt, "(while :; do mkdir -p a/b; echo >a/b/c; rm -r a; done) & wait", "interrupted in make"},
		"ByAnotherProgram":  {syscall.SIGTERM, "exec sleep 600", "interrupted in make"},
		"ByAGeneratorError": {nil, "echo broken >&2; exit 1", "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			bin, parent := t.TempDir(), t.TempDir()
			for name, script := range map[string]string{"make": tc.generator, "go": ""} {
				if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := template.Command(t, program, "fork", "MODULE=example.com/pond", "GROUP=pond.acme.io", "NAME=Pond", "NAMESPACE=pond",
				"TO="+filepath.Join(parent, "pond"))
			cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := interrupt(t, cmd, "make generate ARGS=kinds", tc.signal); err == nil || !strings.Contains(out, tc.want) {
				t.Errorf("it ended with %v, want %q in:\n%s", err, tc.want, out)
			}
			if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
				t.Errorf("%v is left (%v)", entries, err)
			}
		})
	}
}

// interrupt sends a signal, if there is one, to a command after a line of its standard error. It returns all lines and the command's error.
func interrupt(t *testing.T, cmd *exec.Cmd, after string, signal os.Signal) (string, error) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		fmt.Fprintln(&out, lines.Text())
		if strings.HasSuffix(lines.Text(), after) && signal != nil {
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out.String(), cmd.Wait()
}
