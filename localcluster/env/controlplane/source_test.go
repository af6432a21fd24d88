/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An operator outside this repository requires localcluster/env alone.
func TestFindSource_OutsideTheRepository_IsDownloadedAtTheVersionOfThisModule(t *testing.T) {
	proxy, operator, cache := t.TempDir(), t.TempDir(), t.TempDir()
	for name, value := range map[string]string{
		"GOMODCACHE": cache, "GOPROXY": "file://" + proxy, "GOSUMDB": "off", "GOFLAGS": "-mod=mod -modcacherw", "GOWORK": "off",
	} {
		t.Setenv(name, value)
	}
	serve(t, proxy, envModule, "v1.2.3", map[string]string{"go.mod": "module " + envModule + "\n"})
	serve(t, proxy, strings.TrimSuffix(envModule, "/env"), "v1.2.3", map[string]string{"go.mod": smallMod, "main.go": smallMain})
	gomod := "module example.com/operator\n\ngo 1.26.0\n\nrequire " + envModule + " v1.2.3\n"
	if err := os.WriteFile(filepath.Join(operator, "go.mod"), []byte(gomod), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(operator)

	source, err := findSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(source.dir, cache) || !strings.HasSuffix(source.dir, "localcluster@v1.2.3") {
		t.Errorf("the sources are in %s, want version v1.2.3 in the module cache", source.dir)
	}
	if root, err := Repository(); err != nil || filepath.Base(root) != filepath.Base(operator) {
		t.Errorf("the operator's repository is %s, %v, want %s", root, err, operator)
	}
}

// A fork of this repository replaces localcluster/env by the folder of a checkout. It uses the control plane that the checkout has built, and so do
// forks that download the module, to which the go command adds the license of the repository.
func TestFindSource_ReplacedOrDownloaded_IsBuiltOnce(t *testing.T) {
	proxy, operator, checkout := t.TempDir(), t.TempDir(), t.TempDir()
	for name, value := range map[string]string{
		"GOMODCACHE": t.TempDir(), "GOPROXY": "file://" + proxy, "GOSUMDB": "off", "GOFLAGS": "-mod=mod -modcacherw", "GOWORK": "off",
	} {
		t.Setenv(name, value)
	}
	serve(t, proxy, envModule, "v1.2.3", map[string]string{"go.mod": "module " + envModule + "\n"})
	serve(t, proxy, strings.TrimSuffix(envModule, "/env"), "v1.2.3", map[string]string{"go.mod": smallMod, "main.go": smallMain, "LICENSE": "Apache"})
	for path, text := range map[string]string{
		"localcluster/go.mod": smallMod, "localcluster/main.go": smallMain, "localcluster/env/go.mod": "module " + envModule + "\n",
	} {
		path = filepath.Join(checkout, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(operator)
	var hashes []string
	for _, replace := range []string{"", "replace " + envModule + " => " + checkout + "/localcluster/env\n"} {
		gomod := "module example.com/operator\n\ngo 1.26.0\n\nrequire " + envModule + " v1.2.3\n" + replace
		if err := os.WriteFile(filepath.Join(operator, "go.mod"), []byte(gomod), 0o600); err != nil {
			t.Fatal(err)
		}
		source, err := findSource(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, source.hash)
		if replace != "" && source.dir != filepath.Join(checkout, "localcluster") {
			t.Errorf("the sources are in %s, want those of the checkout %s", source.dir, checkout)
		}
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the downloaded control plane is cached as %s, that of the checkout as %s", hashes[0], hashes[1])
	}
}

// serve adds a version of a module to a module proxy in a folder, in the layout of `go help goproxy`.
func serve(t *testing.T, proxy, module, version string, files map[string]string) {
	t.Helper()
	var content bytes.Buffer
	archive := zip.NewWriter(&content)
	for name, text := range files {
		file, err := archive.Create(module + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := errors.Join(archive.Close(), os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, version+".info"), []byte(`{"Version":"`+version+`"}`), 0o600),
		os.WriteFile(filepath.Join(dir, version+".mod"), []byte(files["go.mod"]), 0o600),
		os.WriteFile(filepath.Join(dir, version+".zip"), content.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}
