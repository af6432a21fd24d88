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
	slashpath "path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/mallard-dev/mallard/test/checkout"
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
	proxy, files := t.TempDir(), fstest.MapFS{}
	for _, folder := range folders {
		copied := released(t, root, folder, version)
		path := slashpath.Join(repository, folder)
		var content bytes.Buffer
		if err := zip.CreateFromDir(&content, module.Version{Path: path, Version: version}, copied.Dir); err != nil {
			t.Fatal(err)
		}
		info, versions := fmt.Appendf(nil, `{"Version":%q,"Time":%q}`, version, created), slashpath.Join(path, "@v")
		files[slashpath.Join(path, "@latest")] = &fstest.MapFile{Data: info}
		files[slashpath.Join(versions, "list")] = &fstest.MapFile{}
		files[slashpath.Join(versions, version+".info")] = &fstest.MapFile{Data: info}
		files[slashpath.Join(versions, version+".mod")] = &fstest.MapFile{Data: []byte(copied.Read(t, "go.mod"))}
		files[slashpath.Join(versions, version+".zip")] = &fstest.MapFile{Data: content.Bytes()}
	}
	if err := os.CopyFS(proxy, files); err != nil {
		t.Fatal(err)
	}
	goEnv := func(name string) string {
		return strings.TrimSpace(checkout.Checkout{Dir: root}.Output(t, "go", "env", name))
	}
	return []string{
		"GOWORK=off", "GOFLAGS=-trimpath", "GONOSUMDB=*",
		"GOPROXY=file://" + proxy + ",file://" + goEnv("GOMODCACHE") + "/cache/download," + goEnv("GOPROXY"),
	}
}

// released copies a module to another folder, with a version in go.mod for the other modules of this checkout, and with the license of the
// repository, as the go command does.
func released(t *testing.T, root, folder, version string) checkout.Checkout {
	t.Helper()
	copied := checkout.Checkout{Dir: t.TempDir()}
	if err := os.CopyFS(copied.Dir, os.DirFS(filepath.Join(root, folder))); err != nil {
		t.Fatal(err)
	}
	copied.Write(t, "LICENSE", checkout.Checkout{Dir: root}.Read(t, "LICENSE"))
	copied.Write(t, "go.mod", strings.ReplaceAll(copied.Read(t, "go.mod"), unreleased, version))
	return copied
}
