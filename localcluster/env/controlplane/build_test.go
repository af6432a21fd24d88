//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBuild_EmptyCache_BuildsAndRebuildsOnlyAfterChanges builds from an empty cache, follows the count, and builds again: unchanged, after a change
// that matters, and after one that does not.
func TestBuild_EmptyCache_BuildsAndRebuildsOnlyAfterChanges(t *testing.T) {
	module := emptyRepository(t)
	var progress watched
	first, err := Build(t.Context(), &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	if out, err := exec.Command(first).Output(); err != nil || string(out) != "hello\n" {
		t.Errorf("the program prints %q, %v", out, err)
	}
	assertCounted(t, progress.String())
	assertNothingLeft(t)

	var silent watched
	again, err := Build(t.Context(), &silent)
	if err != nil || again != first || silent.String() != "" {
		t.Errorf("the second time: %s, %v, and it says %q", again, err, silent.String())
	}
	write := func(name, data string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(module, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("main_test.go", "package main\n")
	if path, err := Build(t.Context(), &silent); err != nil || path != first {
		t.Errorf("after a change to a test: %s, %v", path, err)
	}
	write("main.go", strings.ReplaceAll(smallMain, "hello", "goodbye"))
	var short watched
	changed, err := Build(t.Context(), &short)
	if err != nil || changed == first {
		t.Fatalf("after a change: %s, %v", changed, err)
	}
	if out, err := exec.Command(changed).Output(); err != nil || string(out) != "goodbye\n" {
		t.Errorf("the changed program prints %q, %v", out, err)
	}
	if text := short.String(); !strings.Contains(text, "compiling localcluster: 1 packages") {
		t.Errorf("packages that are in Go's cache are counted:\n%s", text)
	}
	assertCounted(t, short.String())
}

// TestBuild_InterruptedInAnyPhase_LeavesNothing interrupts each phase of a build.
func TestBuild_InterruptedInAnyPhase_LeavesNothing(t *testing.T) {
	for _, phase := range []string{"finding out", "compiling localcluster:", "[", "linking"} {
		t.Run(phase, func(t *testing.T) {
			emptyRepository(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			progress := watched{seen: func(text string) {
				if strings.Contains(text, phase) {
					cancel()
				}
			}}
			if _, err := Build(ctx, &progress); !errors.Is(err, context.Canceled) {
				t.Fatalf("%v\n%s", err, progress.String())
			}
			assertNothingLeft(t)
			assertNoProcess(t, "GOCACHE="+os.Getenv("GOCACHE"))
		})
	}
}

// TestBuild_AnotherBuildRunning_Waits starts a second build while the first one is under way.
func TestBuild_AnotherBuildRunning_Waits(t *testing.T) {
	smallRepository(t)
	second := make(chan error, 1)
	var waiting watched
	var once sync.Once
	progress := watched{seen: func(string) {
		once.Do(func() {
			go func() {
				_, err := Build(t.Context(), &waiting)
				second <- err
			}()
		})
	}}
	if _, err := Build(t.Context(), &progress); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("localcluster is being built by process %d; waiting for it\n", os.Getpid())
	if diff := cmp.Diff(want, waiting.String()); diff != "" {
		t.Errorf("the second build says something else (-want +got):\n%s", diff)
	}
}

// TestBuild_SourcesChangeDuringIt_UsesTheLaterSources changes a source in the middle: the result must be the program of the later sources.
func TestBuild_SourcesChangeDuringIt_UsesTheLaterSources(t *testing.T) {
	module := smallRepository(t)
	var once sync.Once
	progress := watched{seen: func(text string) {
		if strings.Contains(text, "linking") {
			once.Do(func() {
				data := []byte(strings.ReplaceAll(smallMain, "hello", "later"))
				if err := os.WriteFile(filepath.Join(module, "main.go"), data, 0o600); err != nil {
					t.Error(err)
				}
			})
		}
	}}
	path, err := Build(t.Context(), &progress)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path).Output(); err != nil || string(out) != "later\n" {
		t.Errorf("the program prints %q, %v\n%s", out, err, progress.String())
	}
}

func TestBuild_Failure_ReportsTheCause(t *testing.T) {
	module := smallRepository(t)
	if err := os.WriteFile(filepath.Join(module, "main.go"), []byte("package main\n\nfunc main() { nothing() }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var progress watched
	if _, err := Build(t.Context(), &progress); err == nil || !strings.Contains(err.Error(), "undefined: nothing") {
		t.Errorf("the compiler's message is not in the error: %v", err)
	}
	assertNothingLeft(t)
	t.Chdir(t.TempDir())
	if _, err := Build(t.Context(), &progress); err == nil || !strings.Contains(err.Error(), "no folder localcluster/") {
		t.Errorf("neither in a checkout nor in a module: %v", err)
	}
}

// TestBuild_AnotherKubernetes_IsKeptNextToTheFirst selects another version with the environment: another program is built, next to the first.
func TestBuild_AnotherKubernetes_IsKeptNextToTheFirst(t *testing.T) {
	module := smallRepository(t)
	sums, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(module, "versions")
	// Where Kubernetes has changed, the control plane has code for one version.
	const only = "//go:build kubernetes1.34\n\npackage main\n\nfunc init() { greeting += \" to 1.34\" }\n"
	if err := errors.Join(os.Mkdir(versions, 0o755), os.WriteFile(filepath.Join(module, "only.go"), []byte(only), 0o600),
		os.WriteFile(filepath.Join(versions, "v1.34.mod"), []byte(strings.ReplaceAll(smallMod, "v1.35.4", "v1.34.4")), 0o600),
		os.WriteFile(filepath.Join(versions, "v1.34.sum"), sums, 0o600)); err != nil {
		t.Fatal(err)
	}
	var progress watched
	usual, err := Build(t.Context(), &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	t.Setenv("LOCALCLUSTER_KUBERNETES", "1.34")
	other, err := Build(t.Context(), &progress)
	if err != nil || other == usual {
		t.Fatalf("for 1.34 it is %s, %v\n%s", other, err, progress.String())
	}
	source, err := findSource(t.Context())
	if err != nil || !strings.Contains(source.ldflags, "component-base/version.gitVersion=v1.34.4") {
		t.Errorf("for 1.34 the linker gets %+v, %v", source, err)
	}
	for program, want := range map[string]string{usual: "hello\n", other: "hello to 1.34\n"} {
		if out, err := exec.Command(program).CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s says %q, %v, want %q", program, out, err, want)
		}
	}
	t.Setenv("LOCALCLUSTER_KUBERNETES", "1.33")
	want := `environment variable LOCALCLUSTER_KUBERNETES="1.33": must be one of 1.34, or not set`
	if _, err := Build(t.Context(), &progress); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("for a version that is not prepared: %v", err)
	}
}
