/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package moduleproxy serves modules of this checkout from a folder, for tests of projects that require them: a module proxy as
// `go help goproxy` describes it, which the go command reads by a file URL.
package moduleproxy

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	slashpath "path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	repository = "github.com/mallard-dev/mallard"
	// unreleased is the version by which modules of this checkout require each other.
	unreleased = "v0.0.0-00010101000000-000000000000"
	created    = "2026-01-01T00:00:00Z"
)

// New makes a proxy of modules, which are folders of the checkout, of which . is its root. It returns their version, and the environment variables
// that have the go command use the proxy, and the machine's settings only for modules that were never downloaded. The modules require each
// other at this version, as those of a release do.
func New(t *testing.T, root string, folders ...string) (version string, environment []string) {
	t.Helper()
	// The go command keeps each version that it has ever downloaded, so the version depends on the content.
	sum := sha256.New()
	for _, folder := range folders {
		if err := zip.CreateFromDir(sum, module.Version{Path: slashpath.Join(repository, folder), Version: "v0.0.0-20260101000000-000000000000"}, filepath.Join(root, folder)); err != nil {
			t.Fatal(err)
		}
	}
	version = fmt.Sprintf("v0.0.0-20260101000000-%.6x", sum.Sum(nil))
	return version, At(t, root, version, folders...)
}

// At makes a proxy of modules at a version, as New does.
func At(t *testing.T, root, version string, folders ...string) (environment []string) {
	t.Helper()
	proxy := t.TempDir()
	for _, folder := range folders {
		copied, gomod := released(t, root, folder, version)
		var content bytes.Buffer
		if err := zip.CreateFromDir(&content, module.Version{Path: slashpath.Join(repository, folder), Version: version}, copied); err != nil {
			t.Fatal(err)
		}
		info := fmt.Appendf(nil, `{"Version":%q,"Time":%q}`, version, created)
		for name, content := range map[string][]byte{
			"@latest": info, "@v/list": nil, "@v/" + version + ".info": info, "@v/" + version + ".mod": gomod, "@v/" + version + ".zip": content.Bytes(),
		} {
			path := filepath.Join(proxy, filepath.FromSlash(slashpath.Join(repository, folder)), name)
			if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []string{
		"GOWORK=off", "GOFLAGS=-trimpath", "GONOSUMDB=*",
		"GOPROXY=file://" + proxy + ",file://" + goEnv(t, "GOMODCACHE") + "/cache/download," + goEnv(t, "GOPROXY"),
	}
}

// released copies a module to another folder, with a version in go.mod for the other modules of this checkout, and with the license of the
// repository, as the go command does.
func released(t *testing.T, root, folder, version string) (copied string, gomod []byte) {
	t.Helper()
	copied = t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(filepath.Join(root, folder))); err != nil {
		t.Fatal(err)
	}
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "LICENSE"), license, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(copied, "go.mod")
	gomod, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gomod = bytes.ReplaceAll(gomod, []byte(unreleased), []byte(version))
	if err := os.WriteFile(path, gomod, 0o600); err != nil {
		t.Fatal(err)
	}
	return copied, gomod
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
