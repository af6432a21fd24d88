/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// newModuleProxy returns the URL of a module proxy in a folder, in the layout of `go help goproxy`, that serves one version of a module of
// this checkout.
func newModuleProxy(t *testing.T, folder string) string {
	t.Helper()
	path := "github.com/mallard-dev/mallard/" + folder
	const created = "2026-01-01T00:00:00Z"
	// The go command keeps each version that it ever downloaded, so the version depends on the content.
	content := zipOf(t, module.Version{Path: path, Version: "v0.0.0-20260101000000-000000000000"}, folder)
	version := fmt.Sprintf("v0.0.0-20260101000000-%.6x", sha256.Sum256(content))
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, created)

	proxy := t.TempDir()
	write := func(name string, content []byte) {
		name = filepath.Join(proxy, filepath.FromSlash(path), name)
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("@latest", []byte(info))
	write("@v/list", nil)
	write("@v/"+version+".info", []byte(info))
	write("@v/"+version+".mod", []byte(read(t, filepath.Join(folder, "go.mod"))))
	write("@v/"+version+".zip", zipOf(t, module.Version{Path: path, Version: version}, folder))
	return "file://" + proxy
}

func zipOf(t *testing.T, version module.Version, folder string) []byte {
	t.Helper()
	var content bytes.Buffer
	if err := zip.CreateFromDir(&content, version, filepath.Join(root, folder)); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}
