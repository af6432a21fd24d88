/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package zoo

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	settingsFile = "api.yaml"
	modFile      = "zoo.mod"
	sumFile      = "zoo.sum"
)

// API is an API of another project, in several versions.
type API struct {
	// Name is the name of the folder.
	Name string `json:"-"`
	// Dir is the folder.
	Dir string `json:"-"`
	// Note is a sentence for readers of the page.
	Note string `json:"note,omitempty"`
	// Module is the Go module of the packages, as PATH@VERSION.
	Module string `json:"module"`
	// Kinds are the names of the Go types that are converted.
	Kinds []string `json:"kinds"`
	// Versions begin with the oldest. The last one is the hub.
	Versions []Version `json:"versions"`
	// Upstream are the conversions of the other project, if it has any. A folder upstream suffices for the defaults.
	Upstream *Upstream `json:"upstream,omitempty"`
}

// Upstream are the hand-written conversions of the other project.
type Upstream struct {
	// Program is the folder of a program that calls them, relative to that of the API: upstream by default.
	Program string `json:"program,omitempty"`
	// Module is their Go module as PATH@VERSION, that of the API by default.
	Module string `json:"module,omitempty"`
	// Files are patterns of the files that contain them, relative to the folder of the module.
	Files []string `json:"files,omitempty"`
}

// Version is one version of an API.
type Version struct {
	// Package is the import path of the types.
	Package string `json:"package"`
	// Module is the Go module of this package if it is another one, as PATH@VERSION.
	Module string `json:"module,omitempty"`
	// Markers are lists of markers without the plus sign, by Type or Type.Field, and by package for those in doc.go.
	Markers map[string][]string `json:"markers,omitempty"`
}

// Name is the name of the version.
func (v Version) Name() string { return path.Base(v.Package) }

// Source is the package with the version of its module.
func (v Version) Source() string {
	_, version, _ := strings.Cut(v.Module, "@")
	return v.Package + "@" + version
}

// load reads the API in a folder.
func load(t testing.TB, dir string) *API {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, api := filepath.Join(dir, settingsFile), &API{Name: filepath.Base(dir), Dir: dir}
	if err := yaml.UnmarshalStrict(read(t, file), api); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	if len(api.Kinds) == 0 || len(api.Versions) < 2 {
		t.Fatalf("reading %s: kinds must have an entry, and versions two, for example package: k8s.io/api/batch/v1", file)
	}
	for i, version := range api.Versions {
		if version.Module == "" {
			api.Versions[i].Module = api.Module
		}
	}
	if _, err := os.Stat(filepath.Join(dir, upstreamDir)); err == nil && api.Upstream == nil {
		api.Upstream = &Upstream{}
	}
	if u := api.Upstream; u != nil {
		u.Program, u.Module = cmp.Or(u.Program, upstreamDir), cmp.Or(u.Module, api.Module)
	}
	return api
}

// read returns the content of a file.
func read(t testing.TB, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Path is the import path of a version in the project into which the API is copied.
func (a *API) Path(version Version) string { return path.Join("example.com", a.Name, version.Name()) }
