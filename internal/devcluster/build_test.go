/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package devcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The program that these tests build is a small one, in a module like the real one: with its requirements, and therefore
// its linker flags. The real one is built by every other test that uses a cluster.
const (
	smallMain = `package main

import "fmt"

var greeting = "hello"

func main() { fmt.Println(greeting) }
`
	smallMod = `module example.com/localcluster

go 1.26.0

require k8s.io/kubernetes v1.35.4
`
)

// smallRepository makes a repository and enters it, with caches of its own for Go and for us.
func smallRepository(t *testing.T) (module string) {
	t.Helper()
	sums, err := os.ReadFile("../../localcluster/go.sum")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	module = filepath.Join(root, "localcluster")
	sub := filepath.Join(root, "some", "package")
	if err := errors.Join(os.MkdirAll(module, 0o755), os.MkdirAll(sub, 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": smallMod, "go.sum": string(sums), "main.go": smallMain} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Where Go keeps modules follows from the same variables, and these tests are not to download any.
	modules, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMODCACHE", strings.TrimSpace(string(modules)))
	t.Setenv("GOCACHE", t.TempDir())
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	if runtime.GOOS == "darwin" {
		t.Setenv("HOME", cache)
	}
	t.Chdir(sub)
	return module
}

// watched is a writer whose lines a test can wait for.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	seen func(text string)
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen != nil {
		w.seen(string(p))
	}
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// TestBuild builds from an empty cache, follows the count, and builds again: unchanged, after a change that matters, and
// after one that does not.
func TestBuild(t *testing.T) {
	module := smallRepository(t)
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

var counted = regexp.MustCompile(`\[ *(\d+)/(\d+)\]`)

// assertCounted checks that the count ends with the total.
func assertCounted(t *testing.T, text string) {
	t.Helper()
	counts := counted.FindAllStringSubmatch(text, -1)
	if len(counts) == 0 {
		t.Fatalf("no count:\n%s", text)
	}
	if last := counts[len(counts)-1]; last[1] != last[2] {
		t.Errorf("it ends with %s of %s packages:\n%s", last[1], last[2], text)
	}
	for _, phase := range []string{"finding out", "linking localcluster", "is built, in "} {
		if !strings.Contains(text, phase) {
			t.Errorf("it does not say %q:\n%s", phase, text)
		}
	}
}

// assertNothingLeft checks that the cache holds finished programs and the lock only.
func assertNothingLeft(t *testing.T) {
	t.Helper()
	cache, err := openCache()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(cache.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name == "build.lock" {
			continue
		} else if _, err := os.Stat(filepath.Join(cache.dir, name, binaryName)); err != nil {
			t.Errorf("left behind: %s", name)
		}
	}
}

// TestBuildInterrupted interrupts each phase of a build.
func TestBuildInterrupted(t *testing.T) {
	for _, phase := range []string{"finding out", "compiling localcluster:", "[", "linking"} {
		t.Run(phase, func(t *testing.T) {
			smallRepository(t)
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

// assertNoProcess checks that no process has a variable in its environment. Where it cannot see environments, the
// interrupted build has shown all the same that it waits for its process group.
func assertNoProcess(t *testing.T, variable string) {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environments {
		if filepath.Base(filepath.Dir(path)) == strconv.Itoa(os.Getpid()) {
			continue
		}
		if environment, err := os.ReadFile(path); err == nil && bytes.Contains(environment, []byte(variable)) {
			t.Errorf("still running: %s", filepath.Dir(path))
		}
	}
}

// TestBuildWaitsForAnother starts a second build while the first one is under way.
func TestBuildWaitsForAnother(t *testing.T) {
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

// TestBuildWhileSourcesChange changes a source in the middle: the result must be the program of the later sources.
func TestBuildWhileSourcesChange(t *testing.T) {
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

func TestBuildFails(t *testing.T) {
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
	if _, err := Build(t.Context(), &progress); err == nil || !strings.Contains(err.Error(), "inside the repository") {
		t.Errorf("outside of a repository: %v", err)
	}
}

func TestPrune(t *testing.T) {
	cache := &cache{dir: t.TempDir()}
	old := time.Now().Add(-keepUnused - time.Hour)
	for name, age := range map[string]time.Time{
		"localcluster-old": old, "localcluster-kept": old, "localcluster-new": time.Now(), "build-killed": time.Now(), "other": old,
	} {
		dir := filepath.Join(cache.dir, name)
		if err := errors.Join(os.Mkdir(dir, 0o755), os.Chtimes(dir, age, age)); err != nil {
			t.Fatal(err)
		}
	}
	cache.prune("kept")
	entries, err := os.ReadDir(cache.dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff([]string{"localcluster-kept", "localcluster-new", "other"}, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

func TestVersionFlags(t *testing.T) {
	flags, err := versionFlags([]byte(smallMod))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"-X k8s.io/component-base/version.gitVersion=v1.35.4", "-X k8s.io/component-base/version.gitMinor=35",
		"-X k8s.io/client-go/pkg/version.gitMajor=1",
	} {
		if !strings.Contains(flags, want) {
			t.Errorf("no %q in %q", want, flags)
		}
	}
	if _, err := versionFlags([]byte("module x\n")); err == nil {
		t.Error("a module without Kubernetes has a version")
	}
}

// TestBuildOfAnotherKubernetes asks for another version by the environment: another program is built, beside the first.
func TestBuildOfAnotherKubernetes(t *testing.T) {
	module := smallRepository(t)
	sums, err := os.ReadFile(filepath.Join(module, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	versions := filepath.Join(module, "versions")
	if err := errors.Join(os.Mkdir(versions, 0o755),
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
		t.Errorf("for 1.34 the linker is told %+v, %v", source, err)
	}
	t.Setenv("LOCALCLUSTER_KUBERNETES", "1.33")
	want := `environment variable LOCALCLUSTER_KUBERNETES="1.33": must be one of 1.34, or not set`
	if _, err := Build(t.Context(), &progress); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("for a version that nobody has prepared: %v", err)
	}
}
