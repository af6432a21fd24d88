/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package generate

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/conversion/cmd/assign-gen/args"
)

const (
	// fixtures is the folder of the module with the APIs for tests, and fixture that of the one that most tests take.
	fixtures     = "../../../fixtures"
	fixture      = "widget"
	fixturesPath = "github.com/mallard-dev/mallard/conversion/fixtures"
	// projectModule is another project, and projectPath its API.
	projectModule = "example.com/project"
	projectPath   = projectModule + "/" + fixture
)

// relativePath is that of a replacement in a go.mod.
var relativePath = regexp.MustCompile(`=> \.\.\S*`)

var projectVersions = []string{"./widget/v1alpha1", "./widget/v1beta1", "./widget/v1"}

// project is another module that uses this one, with the API for tests as its authors wrote it, before anything was generated: there are no storage
// packages yet. The working directory is its folder.
func project(t *testing.T) {
	t.Helper()
	module, err := filepath.Abs(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	files := handWritten(t, fixture)
	t.Chdir(t.TempDir())
	modfile := read(t, filepath.Join(module, "go.mod"))
	modfile = strings.Replace(modfile, "module "+fixturesPath+"\n", "module "+projectModule+"\n", 1)
	modfile = relativePath.ReplaceAllStringFunc(modfile, func(match string) string {
		return "=> " + strconv.Quote(filepath.Join(module, strings.TrimPrefix(match, "=> "))) // the path may contain a space
	})
	write(t, "go.mod", modfile)
	write(t, "go.sum", read(t, filepath.Join(module, "go.sum")))
	writeAPI(t, files)
	// The versions in go.mod are those that this module was built with; only what is not needed is missing.
	t.Setenv("GOFLAGS", "-mod=mod -trimpath")
	t.Setenv("GOWORK", "off")
}

// writeAPI writes the hand-written files of an API, except those of storage packages.
func writeAPI(t *testing.T, files map[string]string) {
	t.Helper()
	for path, content := range files {
		if filepath.Base(filepath.Dir(path)) != "storage" {
			write(t, path, content)
		}
	}
}

// handWritten are the files of an API for tests that assign-gen does not write, by their paths in the project.
func handWritten(t *testing.T, api string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	source := filepath.Join(fixtures, api)
	err := filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		generated := strings.HasPrefix(entry.Name(), "zz_generated.") && entry.Name() != "zz_generated.deepcopy.go"
		if err != nil || entry.IsDir() || generated || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		relative, err := filepath.Rel(source, path)
		files[filepath.Join(api, relative)] = strings.ReplaceAll(read(t, path), fixturesPath+"/", projectModule+"/")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// firstRun are the files that a run in a new project writes, by their paths. All tests begin with the same project, and a run
// takes seconds, nearly all of them for reading what the API imports; so there is one.
var firstRun map[string]string

// generatedProject is a project after its first run, with the hand-written files of storage packages added.
func generatedProject(t *testing.T) {
	t.Helper()
	storage := handWritten(t, fixture)
	project(t)
	if firstRun == nil {
		before := snapshot(t, "widget")
		mustRun(t, projectVersions...)
		firstRun = make(map[string]string)
		for path := range snapshot(t, "widget") {
			if info, err := os.Stat(path); err == nil && !info.IsDir() && before[path] == "" {
				firstRun[path] = read(t, path)
			}
		}
	}
	for path, content := range firstRun {
		write(t, path, content)
	}
	for path, content := range storage {
		write(t, path, content)
	}
}

// run generates, as the command does.
func run(versions ...string) error {
	a := args.New()
	a.InputDirs = versions
	return Run(a, io.Discard)
}

func mustRun(t *testing.T, versions ...string) {
	t.Helper()
	if err := run(versions...); err != nil {
		t.Fatal(err)
	}
}

// aFolder is the content of a folder in a snapshot.
const aFolder = "a folder"

// snapshot holds the contents and modification times of all files below a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && !entry.IsDir() {
			files[path] = info.ModTime().String() + "\n" + read(t, path)
		} else if err == nil {
			files[path] = aFolder
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// change replaces a text that has to exist.
func change(t *testing.T, path, from, to string) {
	t.Helper()
	content := read(t, path)
	if !strings.Contains(content, from) {
		t.Fatalf("%s does not hold %q", path, from)
	}
	write(t, path, strings.ReplaceAll(content, from, to))
}
