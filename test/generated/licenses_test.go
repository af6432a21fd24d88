/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generated

import (
	"os"
	"path/filepath"
	"testing"
)

// One run in a copy of the checkout shows each kind of fault, because a run takes a while.
func TestVerifyLicensesFindsWhatIsStale(t *testing.T) {
	checkout := t.TempDir()
	for _, path := range []string{"go.mod", "go.sum", "conversion", "cmd", "hack", "localcluster/env", "pkg", "runtime", "third_party"} {
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
