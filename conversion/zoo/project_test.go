/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

// Project is a Go module with the copied types of an API.
type Project struct {
	api *API
	// dir is the folder of the module.
	dir string
	// flags are the value of GOFLAGS.
	flags string
}

// Targets of replace directives. They are relative to the folder of zoo.mod, and absolute in the project.
var (
	relativePath = regexp.MustCompile(`=> (\.\.?/\S+)`)
	absolutePath = regexp.MustCompile(`=> (/\S+)`)
)

// assemble writes a project into an empty folder: the files of the API's folder, and the types of its kinds with their markers. Flags are
// those for the go command.
func (a *API) assemble(t testing.TB, dir, flags string) *Project {
	t.Helper()
	p := &Project{api: a, dir: dir, flags: flags}
	p.copyFolder(t, a.Dir, "")
	if a.Upstream != nil {
		p.copyFolder(t, filepath.Join(a.Dir, a.Upstream.Program), upstreamDir)
	}
	p.copyTypes(t)
	p.writeTripsTest(t)
	p.writeObjectsTest(t)
	p.writeTest(t, "former_test.go", formerTest, a)
	return p
}

// settings are files of an API that are no part of its project.
var settings = []string{settingsFile, differencesFile, objectsFile, formerMarkers}

// copyFolder copies the hand-written files of a folder into one of the project, and makes go.mod and go.sum of zoo.mod and zoo.sum.
func (p *Project) copyFolder(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if entry.IsDir() && path == filepath.Join(p.api.Dir, formerDir) && from == p.api.Dir {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || slices.Contains(settings, entry.Name()) {
			return err
		}
		name, content := filepath.Join(to, strings.TrimPrefix(path, from)), read(t, path)
		switch filepath.Base(path) {
		case modFile:
			name = filepath.Join(filepath.Dir(name), "go.mod")
			content = relativePath.ReplaceAllFunc(content, func(match []byte) []byte {
				return []byte("=> " + strconv.Quote(filepath.Join(filepath.Dir(path), string(match[len("=> "):]))))
			})
		case sumFile:
			name = filepath.Join(filepath.Dir(name), "go.sum")
		}
		p.write(t, name, content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copyTypes copies the kinds of each version with everything that they need.
func (p *Project) copyTypes(t testing.TB) {
	t.Helper()
	e := p.sources(t)
	paths := make(map[string]string)
	for _, version := range p.api.Versions {
		paths[version.Package] = p.api.Path(version)
		for _, kind := range p.api.Kinds {
			if err := e.keep(version.Package, kind); err != nil {
				t.Fatal(err)
			}
		}
	}
	translate := func(path string) string { return cmp.Or(paths[path], path) }
	for i, version := range p.api.Versions {
		files, err := e.write(e.sources[version.Package], version.Markers, translate)
		if err != nil {
			t.Fatal(err)
		}
		files["doc.go"] = p.api.packageComment(i)
		for name, content := range files {
			p.write(t, filepath.Join(version.Name(), name), []byte(content))
		}
	}
}

// packageComment is doc.go of a version, with the markers about its place among the others and those of the settings.
func (a *API) packageComment(i int) string {
	place := "+conversion-gen:hub\n// +conversion-gen:annotation=" + a.annotation()
	if i+1 < len(a.Versions) {
		place = "+conversion-gen:next=" + a.Path(a.Versions[i+1])
	}
	place = strings.Join(append([]string{place}, a.Versions[i].Markers[packageMarkers]...), "\n// +")
	name := a.Versions[i].Name()
	return fmt.Sprintf("// Package %s is copied from %s.\n//\n// %s\npackage %s\n", name, a.Versions[i].Package, place, name)
}

// annotation is the name of the annotation in which conversions keep values.
func (a *API) annotation() string { return "conversion." + a.Name + ".example.com/properties" }

// sources reads and checks the packages of all versions.
func (p *Project) sources(t testing.TB) *extractor {
	t.Helper()
	e := newExtractor()
	for _, version := range p.api.Versions {
		module, _, _ := strings.Cut(version.Module, "@")
		e.parse(t, version.Package, filepath.Join(p.download(t, version.Module), strings.TrimPrefix(version.Package, module)))
	}
	e.checkAll()
	return e
}

// download has a module in the module cache, and returns its folder.
func (p *Project) download(t testing.TB, module string) string {
	t.Helper()
	var output bytes.Buffer
	command := p.Command(t.Context(), "go", "mod", "download", "-json", module)
	command.Stdout = &output
	run(t, command)
	var downloaded struct {
		Dir string `json:"Dir"`
	}
	if err := json.Unmarshal(output.Bytes(), &downloaded); err != nil {
		t.Fatalf("reading the output of go mod download: %v", err)
	}
	return downloaded.Dir
}

// Command is a command that runs in the project's folder.
func (p *Project) Command(ctx context.Context, name string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = p.dir
	command.Env = append(os.Environ(), "GOFLAGS="+p.flags, "GOWORK=off", "CGO_ENABLED=0")
	return command
}

// Versions are the folders of the versions, as arguments for assign-gen.
func (p *Project) Versions() string {
	folders := make([]string, len(p.api.Versions))
	for i, version := range p.api.Versions {
		folders[i] = "./" + version.Name()
	}
	return strings.Join(folders, ",")
}

// complete has the go command complete go.mod and go.sum of the project's modules, and writes them back into their original folders.
func (p *Project) complete(t testing.TB) {
	t.Helper()
	p.tidy(t, "", p.api.Dir)
	if p.api.Upstream == nil {
		return
	}
	program := filepath.Join(p.api.Dir, p.api.Upstream.Program)
	if _, err := os.Stat(filepath.Join(program, modFile)); err == nil { // otherwise it is a package of the first module
		p.tidy(t, upstreamDir, program)
	}
}

// tidy completes go.mod and go.sum in a folder, and writes them into another one.
func (p *Project) tidy(t testing.TB, folder, to string) {
	t.Helper()
	command := p.Command(t.Context(), "go", "mod", "tidy")
	command.Dir = filepath.Join(p.dir, folder)
	run(t, command)
	for name, original := range map[string]string{"go.mod": modFile, "go.sum": sumFile} {
		content := read(t, filepath.Join(command.Dir, name))
		for _, replaced := range absolutePath.FindAllSubmatch(content, -1) {
			relative, err := filepath.Rel(to, string(replaced[1]))
			if err != nil {
				t.Fatal(err)
			}
			content = bytes.ReplaceAll(content, replaced[1], []byte(relative))
		}
		if err := os.WriteFile(filepath.Join(to, original), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// writeTest adds a test to the generated ones.
func (p *Project) writeTest(t testing.TB, name string, test *template.Template, values any) {
	t.Helper()
	var text bytes.Buffer
	if err := test.Execute(&text, values); err != nil {
		t.Fatal(err)
	}
	p.write(t, "roundtrip/"+name, text.Bytes())
}

func (p *Project) write(t testing.TB, name string, content []byte) {
	t.Helper()
	file := filepath.Join(p.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, content, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// run runs a command. If it fails, so does the test, with what the command prints to the standard error.
func run(t testing.TB, command *exec.Cmd) {
	t.Helper()
	var messages bytes.Buffer
	command.Stderr = &messages
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command.Args, " "), err, messages.Bytes())
	}
}
