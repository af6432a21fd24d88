/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/mallard-dev/mallard/crud"
	"github.com/mallard-dev/mallard/crud/operations"
)

func TestPrepare_ContextsBeyondTheLimit_AreAnErrorThatNamesIt(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close() //nolint:errcheck // only written
	large := Context{Type: TypeEvent, Snapshot: Snapshot{Object: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"k": strings.Repeat("x", 1<<20)},
	}}}}
	run := &Run{Contexts: []Context{large, large}}
	if err := prepare(root, run); err != nil {
		t.Errorf("two contexts: %v", err)
	}
	for range mostOfContexts >> 20 {
		run.Contexts = append(run.Contexts, large)
	}
	if err := prepare(root, run); err == nil || !strings.Contains(err.Error(), "more than 32 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestAttempt_APartPanics_IsAnErrorOfTheHook(t *testing.T) {
	for name, call := range map[string]func(context.Context, *Run) (operations.File, error){
		"the hook":        func(context.Context, *Run) (operations.File, error) { panic("hunter2") },
		"what follows it": func(context.Context, *Run) (operations.File, error) { return operations.File{}, nil },
	} {
		of := &term{runner: &runner{client: &crud.Client{}}} // lacks what it needs to execute operations
		of.ctx = t.Context()
		got := of.attempt(t.Context(), &task{run: &Run{Logger: zap.NewNop().Sugar()}, hook: &Hook{call: call}})
		if got.verdict != failed || got.err == nil || got.err.Error() != "it panicked" {
			t.Errorf("%s: got %v, %v", name, got.verdict, got.err)
		}
	}
}

// writing returns an executable that writes a file of operations with a number of bytes.
func writing(t *testing.T, bytes int) *executable {
	t.Helper()
	x := &executable{path: filepath.Join(t.TempDir(), "hook"), options: Options{Folder: t.TempDir()}}
	if err := os.WriteFile(x.path, fmt.Appendf(nil, "#!/bin/sh\nyes '#' | head -c %d >\"$KUBERNETES_OPERATION_PATH\"\n", bytes), 0o700); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestCall_LargeFilesOfOperations_AreParsedOneAtATime(t *testing.T) {
	call := func(x *executable) error {
		_, err := x.call(t.Context(), &Run{Contexts: []Context{{}}, Logger: zap.NewNop().Sugar()})
		return err
	}
	large, small := writing(t, largeFile+1), writing(t, largeFile)
	parsing.Lock() // as another hook does whose file is parsed
	ended := make(chan error, 1)
	go func() { ended <- call(large) }()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, wait.ForeverTestTimeout, true, func(context.Context) (bool, error) {
		return isWritten(t, large, largeFile+1) || len(ended) > 0, nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := call(small); err != nil {
			t.Error(err)
		}
	}
	if len(ended) > 0 {
		t.Error("two large files are parsed at a time")
	}
	parsing.Unlock()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// isWritten reports whether the executable has written a number of bytes.
func isWritten(t *testing.T, x *executable, bytes int64) bool {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(x.options.Folder, runFolder+"*", files[operationsVariable]))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		if info, err := os.Stat(file); err == nil && info.Size() == bytes {
			return true
		}
	}
	return false
}
