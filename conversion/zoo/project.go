/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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

// Assemble writes a project into an empty folder: the files of the API's folder, and the types of its kinds with their markers. Flags are
// those for the go command.
func (a *API) Assemble(ctx context.Context, dir, flags string) (*Project, error) {
	p := &Project{api: a, dir: dir, flags: flags}
	if err := p.copyFolder(a.Dir, ""); err != nil {
		return nil, fmt.Errorf("copying the folder of %s: %w", a.Name, err)
	}
	if a.Upstream != nil {
		if err := p.copyFolder(filepath.Join(a.Dir, a.Upstream.Program), upstreamDir); err != nil {
			return nil, fmt.Errorf("copying the program of %s: %w", a.Name, err)
		}
	}
	if err := p.copyTypes(ctx); err != nil {
		return nil, fmt.Errorf("copying the types of %s: %w", a.Name, err)
	}
	if err := p.writeTripsTest(); err != nil {
		return nil, err
	}
	return p, nil
}

// copyFolder copies the hand-written files of a folder into one of the project, and makes go.mod and go.sum of zoo.mod and zoo.sum.
func (p *Project) copyFolder(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == settingsFile || entry.Name() == differencesFile {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // a folder of the repository, which does not change during a test
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, from))
		switch filepath.Base(path) {
		case modFile:
			name = filepath.Join(filepath.Dir(name), "go.mod")
			content = relativePath.ReplaceAllFunc(content, func(match []byte) []byte {
				return []byte("=> " + filepath.Join(filepath.Dir(path), string(match[len("=> "):])))
			})
		case sumFile:
			name = filepath.Join(filepath.Dir(name), "go.sum")
		}
		return p.write(name, content)
	})
}

// copyTypes copies the kinds of each version with everything that they need.
func (p *Project) copyTypes(ctx context.Context) error {
	e, err := p.sources(ctx)
	if err != nil {
		return err
	}
	paths := make(map[string]string)
	for _, version := range p.api.Versions {
		paths[version.Package] = p.api.Path(version)
		for _, kind := range p.api.Kinds {
			if err := e.keep(version.Package, kind); err != nil {
				return err
			}
		}
	}
	translate := func(path string) string {
		if own := paths[path]; own != "" {
			return own
		}
		return path
	}
	for i, version := range p.api.Versions {
		files, err := e.write(e.sources[version.Package], version.Markers, translate)
		if err != nil {
			return err
		}
		files["doc.go"] = p.api.packageComment(i)
		for name, content := range files {
			if err := p.write(filepath.Join(version.Name(), name), []byte(content)); err != nil {
				return err
			}
		}
	}
	return nil
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
func (p *Project) sources(ctx context.Context) (*extractor, error) {
	e := newExtractor()
	for _, version := range p.api.Versions {
		dir, err := p.download(ctx, version.Module)
		if err != nil {
			return nil, err
		}
		module, _, _ := strings.Cut(version.Module, "@")
		if err := e.parse(version.Package, filepath.Join(dir, strings.TrimPrefix(version.Package, module))); err != nil {
			return nil, err
		}
	}
	for _, version := range p.api.Versions {
		if _, err := e.Import(version.Package); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// download has a module in the module cache, and returns its folder.
func (p *Project) download(ctx context.Context, module string) (string, error) {
	var output bytes.Buffer
	command := p.Command(ctx, "go", "mod", "download", "-json", module)
	command.Stdout = &output
	if err := run(command); err != nil {
		return "", err
	}
	var downloaded struct {
		Dir string `json:"Dir"` //nolint:tagliatelle // the name in the output of the go command
	}
	if err := json.Unmarshal(output.Bytes(), &downloaded); err != nil {
		return "", fmt.Errorf("reading the output of go mod download: %w", err)
	}
	return downloaded.Dir, nil
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

// Tidy has the go command complete go.mod and go.sum of the project's modules, and writes them back into their original folders.
func (p *Project) Tidy(ctx context.Context) error {
	if err := p.tidy(ctx, "", p.api.Dir); err != nil || p.api.Upstream == nil {
		return err
	}
	program := filepath.Join(p.api.Dir, p.api.Upstream.Program)
	if _, err := os.Stat(filepath.Join(program, modFile)); errors.Is(err, fs.ErrNotExist) {
		return nil // a package of the first module
	}
	return p.tidy(ctx, upstreamDir, program)
}

// tidy completes go.mod and go.sum in a folder, and writes them into another one.
func (p *Project) tidy(ctx context.Context, folder, to string) error {
	command := p.Command(ctx, "go", "mod", "tidy")
	command.Dir = filepath.Join(p.dir, folder)
	if err := run(command); err != nil {
		return err
	}
	for name, original := range map[string]string{"go.mod": modFile, "go.sum": sumFile} {
		content, err := os.ReadFile(filepath.Join(command.Dir, name))
		if err != nil {
			return err
		}
		for _, replaced := range absolutePath.FindAllSubmatch(content, -1) {
			relative, err := filepath.Rel(to, string(replaced[1]))
			if err != nil {
				return fmt.Errorf("path of a replacement: %w", err)
			}
			content = bytes.ReplaceAll(content, replaced[1], []byte(relative))
		}
		//nolint:gosec // the folder of the API is an argument of the test
		if err := os.WriteFile(filepath.Join(to, original), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (p *Project) write(name string, content []byte) error {
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", name, err)
	}
	return os.WriteFile(file, content, 0o644) //nolint:gosec // the name is that of a file in the folder of the API
}

// run runs a command, whose error includes what the command prints to the standard error.
func run(command *exec.Cmd) error {
	var messages bytes.Buffer
	command.Stderr = &messages
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(command.Args, " "), err, messages.Bytes())
	}
	return nil
}
