/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hook

import (
	"context"
	"os"
	"strings"
	"testing"

	"go.uber.org/zap"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
		of := &term{runner: &runner{}} // lacks what it needs to execute operations
		of.ctx = t.Context()
		got := of.attempt(t.Context(), &task{run: &Run{Logger: zap.NewNop().Sugar()}, hook: &Hook{call: call}})
		if got.verdict != failed || got.err == nil || got.err.Error() != "it panicked" {
			t.Errorf("%s: got %v, %v", name, got.verdict, got.err)
		}
	}
}
