//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompile_Package_IsCountedAndThenSilent(t *testing.T) {
	module := smallRepository(t)
	library := filepath.Join(module, "library")
	// The shared cache contains only packages with other content.
	content := "package library\n\nconst Folder = `" + module + "`\n"
	if err := errors.Join(os.Mkdir(library, 0o755), os.WriteFile(filepath.Join(library, "library.go"), []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	var first, second watched
	for _, progress := range []*watched{&first, &second} {
		if err := Compile(t.Context(), progress, "tool", module, t.TempDir(), "./library"); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"compiling tool: 1 packages", "[1/1] example.com/localcluster/library", "tool is built, in "} {
		if !strings.Contains(first.String(), text) {
			t.Errorf("it does not print %q:\n%s", text, first.String())
		}
	}
	if text := second.String(); text != "" {
		t.Errorf("it prints that a compiled package is compiled:\n%s", text)
	}
	if err := Compile(t.Context(), &second, "tool", module, t.TempDir(), "./missing"); err == nil || !strings.Contains(err.Error(), "building tool: ") {
		t.Errorf("for a package that does not exist: %v", err)
	}
}
