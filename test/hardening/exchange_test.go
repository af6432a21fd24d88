//go:build nightly && peers

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package hardening_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/controlplane"
)

// TestPeers_SampleConstructor_LacksTheClassOnly compiles the constructor of the sample-controller in this module, where the generated NewImpl has the class as a
// parameter.
func TestPeers_SampleConstructor_LacksTheClassOnly(t *testing.T) {
	repository, err := controlplane.Repository()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(sample.source(t, repository), "pkg", "reconciler", "addressableservice", "controller.go"))
	if err != nil {
		t.Fatal(err)
	}
	constructor := strings.NewReplacer("knative.dev/sample-controller", "github.com/mallard-dev/mallard", "v1alpha1", "v1").Replace(string(content))

	out, err := build(t, repository, constructor)
	if err == nil || strings.Count(out, ".go:") != 1 || !strings.Contains(out, "not enough arguments in call to addressableservicereconciler.NewImpl") {
		t.Errorf("with other import paths only: %v\n%s", err, out)
	}
	if out, err := build(t, repository, strings.Replace(constructor, "NewImpl(ctx, r)", `NewImpl(ctx, r, "mallard")`, 1)); err != nil {
		t.Errorf("with the class: %v\n%s", err, out)
	}
}

// build compiles a constructor as a package of this module that exists for this command only.
func build(t *testing.T, repository, constructor string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	controller, overlay := filepath.Join(dir, "controller.go"), filepath.Join(dir, "overlay.json")
	reconciler, err := filepath.Abs("testdata/exchange/reconciler.go")
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(repository, "pkg", "reconciler", "exchanged")
	files, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(folder, "controller.go"): controller, filepath.Join(folder, "reconciler.go"): reconciler,
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{controller: []byte(constructor), overlay: files} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "./pkg/reconciler/exchanged")
	cmd.Dir = repository
	out, err := cmd.CombinedOutput()
	return string(out), err
}
