/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package migration

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

// program is the path of the program, which is built once, into a folder that the go command's cache makes cheap.
var program = sync.OnceValues(func() (string, error) {
	dir, err := filepath.Abs("../../.cache/migration")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "migrate")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/migrate").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program: %w: %s", err, out)
	}
	return path, nil
})

// running is the program while it runs.
type running struct {
	command *exec.Cmd
	stderr  bytes.Buffer
}

// start starts the program with a kubeconfig and settings.
func start(t *testing.T, kubeconfig string, settings ...string) *running {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*harness.Deadline)
	t.Cleanup(cancel)
	r := &running{command: exec.CommandContext(ctx, path)}
	r.command.Env, r.command.Stderr = append([]string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}, settings...), &r.stderr
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// end waits until the program has ended, and returns its exit status and what it wrote to standard error.
func (r *running) end(t *testing.T) (int, string) {
	t.Helper()
	err := r.command.Wait()
	if r.command.ProcessState.ExitCode() < 0 {
		t.Fatalf("the program was killed: %v\n%s", err, r.stderr.String())
	}
	return r.command.ProcessState.ExitCode(), r.stderr.String()
}

func TestMigrationProgram_AllMigrated_ExitsZero(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 3)
	k.storeAt(t, "v1")
	k.change(t, notServing("v1alpha1"))
	for range 2 {
		if code, stderr := start(t, k.env.Kubeconfig, "RESOURCES="+k.resource.String()).end(t); code != 0 {
			t.Errorf("it exits with %d:\n%s", code, stderr)
		}
	}
	k.expectMigrated(t, 3)
}

func TestMigrationProgram_SIGTERM_ExitsAtOnce(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	const n = 5
	k.store(t, n)
	k.storeAt(t, "v1")
	reached, proceed := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(proceed) })
	defer release()
	once := sync.OnceFunc(func() { close(reached) })
	k.serveWebhook(t, func(name string) bool {
		if name == "o-2" {
			once()
			<-proceed
		}
		return true
	})
	r := start(t, k.env.Kubeconfig, "RESOURCES="+k.resource.String())
	select {
	case <-reached:
	case <-time.After(harness.Deadline):
		t.Fatal("the program has not come to the object")
	}
	if err := r.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// The webhook still has not answered.
	code, stderr := r.end(t)
	if code != 1 || !strings.Contains(stderr, "context canceled") {
		t.Errorf("it exits with %d, want 1, and says that it was interrupted:\n%s", code, stderr)
	}
	release()
	if code, stderr := start(t, k.env.Kubeconfig, "RESOURCES="+k.resource.String()).end(t); code != 0 {
		t.Errorf("the next one exits with %d:\n%s", code, stderr)
	}
	k.expectStored(t, n)
}

func TestMigrationProgram_KindThatCannotBeMigrated_IsNamed(t *testing.T) {
	t.Parallel()
	k := newKind(t, harness.Shared(t))
	k.store(t, 1)
	k.storeAt(t, "v1")
	name := k.resource.String()
	for resources, want := range map[string]string{
		"":                   "must name CustomResourceDefinitions",
		"gauges":             `gauges: 0 objects were written: reading the CRD: customresourcedefinitions.apiextensions.k8s.io "gauges" not found`,
		"others.example.com": `customresourcedefinitions.apiextensions.k8s.io "others.example.com" not found`,
	} {
		code, stderr := start(t, k.env.Kubeconfig, "RESOURCES="+resources).end(t)
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("RESOURCES=%s: it exits with %d, want 1 and that it says %q:\n%s", resources, code, want, stderr)
		}
	}
	// One that cannot be migrated does not keep others from their turn.
	if code, _ := start(t, k.env.Kubeconfig, "RESOURCES=others.example.com,"+name).end(t); code != 1 {
		t.Errorf("it exits with %d, want 1 as one of two does not exist", code)
	}
	k.expectStored(t, 1)
}
