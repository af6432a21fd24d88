//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generated

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// linked are the paths from which third_party/ is generated.
var linked = []string{"go.mod", "go.sum", "confidential", "conversion", "cmd", "crud", "hack", "hardening", "localcluster/env", "observe", "pkg", "third_party"}

// One run in a copy of the checkout shows each kind of fault, because a run takes a while.
func TestVerifyLicenses_StaleFiles_AreReported(t *testing.T) {
	checkout := t.TempDir()
	for _, path := range linked {
		copyAll(t, filepath.Join(root, path), filepath.Join(checkout, path))
	}
	const (
		missing  = "third_party/knative.dev/pkg/LICENSE"
		edited   = "third_party/licenses.csv"
		leftover = "third_party/example.com/gone/LICENSE"
	)
	if err := os.Remove(filepath.Join(checkout, missing)); err != nil {
		t.Fatal(err)
	}
	change(t, filepath.Join(checkout, edited), "k8s.io/client-go,v", "k8s.io/client-go,v9")
	if err := os.MkdirAll(filepath.Join(checkout, filepath.Dir(leftover)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(checkout, leftover), []byte("of a module that went\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expectStale(t, checkout, "verify-licenses.sh",
		"/"+missing, "-k8s.io/client-go,v9", "-of a module that went", "make generate")
}

func TestUpdateLicenses_LicenseIsNotAllowed_IsNamedAndNothingIsWritten(t *testing.T) {
	checkout := t.TempDir()
	for _, path := range linked {
		copyAll(t, filepath.Join(root, path), filepath.Join(checkout, path))
	}
	change(t, filepath.Join(checkout, "hack/update-licenses.sh"), " MPL-2.0 '", " '")
	command := exec.CommandContext(t.Context(), "bash", filepath.Join(checkout, "hack/update-licenses.sh"))
	out, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "golang-lru is licensed as MPL-2.0") {
		t.Errorf("got error %v, want one that names the module and its license:\n%s", err, out)
	}
	if diff, err := exec.CommandContext(t.Context(), "diff", "-r", filepath.Join(root, "third_party"), filepath.Join(checkout, "third_party")).CombinedOutput(); err != nil {
		t.Errorf("third_party/ was changed: %v\n%s", err, diff)
	}
}
