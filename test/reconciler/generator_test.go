//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reconciler

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGenerator_MarkerOptions_ChangeTheOutput runs the generator on the types in testdata, one for each option, and looks for
// what is in the one or the other of what it makes.
func TestGenerator_MarkerOptions_ChangeTheOutput(t *testing.T) {
	const base = "example.com/client"
	out := t.TempDir()
	find := exec.CommandContext(t.Context(), "go", "-C", "hack/tools", "tool", "-n", "generators")
	find.Dir = root
	find.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off")
	program, err := find.Output()
	if err != nil {
		t.Fatalf("building the generators: %v", err)
	}
	generator := exec.CommandContext(t.Context(), strings.TrimSpace(string(program)), "injection-gen",
		"--go-header-file", "hack/boilerplate/boilerplate.go.txt", "--input-dirs", module+"test/reconciler/testdata/options/v1",
		"--versioned-clientset-package", base+"/clientset/versioned", "--listers-package", base+"/listers",
		"--external-versions-informers-package", base+"/informers/externalversions",
		"--output-package", base+"/injection", "--output-dir", out)
	generator.Dir, generator.Env = root, find.Env
	if report, err := generator.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, report)
	}
	folder := filepath.Join(out, "reconciler", "options", "v1")
	made := func(kind, file string) string {
		content, err := os.ReadFile(filepath.Join(folder, kind, file))
		if os.IsNotExist(err) {
			return ""
		} else if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	for _, row := range []struct {
		file, holds   string
		only, without string
	}{
		{"controller.go", "ClassAnnotationKey = \"example.com/class\"", "classed", "plain"},
		{"controller.go", "r Interface, classValue string, optionsFns", "classed", "plain"},
		{"reconciler.go", "Skip reconciling resource, class annotation value", "classed", "plain"},
		{"reconciler.go", "reconciler.PreProcessReconcile(ctx, resource)", "plain", "unshaped"},
		{"reconciler.go", "reconciler.PostProcessReconcile(ctx, resource, original)", "plain", "unshaped"},
		{"reconciler.go", "UpdateStatus(", "plain", "statusless"},
		{"reconciler.go", "Plains(s.namespace)", "plain", "wide"},
		{"stub/controller.go", "func NewController(", "stubbed", "plain"},
		{"stub/reconciler.go", "ReconcileKind(ctx context.Context", "stubbed", "plain"},
		{"stub/reconciler.go", "newReconciledNormal(", "stubbed", "plain"},
	} {
		if made(row.without, "state.go") == "" {
			t.Errorf("nothing is made of %s", row.without)
		}
		if !strings.Contains(made(row.only, row.file), row.holds) {
			t.Errorf("%s of %s does not hold %q", row.file, row.only, row.holds)
		}
		if strings.Contains(made(row.without, row.file), row.holds) {
			t.Errorf("%s of %s holds %q", row.file, row.without, row.holds)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(folder, "unmarked")); err == nil {
		t.Errorf("a type without the marker gets %v", entries)
	}
	if _, err := os.Stat(filepath.Join(out, "informers", "options", "v1", "unmarked")); err != nil {
		t.Errorf("a type with the marker +genclient alone gets no accessor of its informer: %v", err)
	}
}
