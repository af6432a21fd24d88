/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// unreleased is the version by which modules of a checkout require each other.
const unreleased = "v0.0.0-00010101000000-000000000000"

// folders are those of the template's modules that a fork requires, directly or not.
var folders = []string{".", "conversion", "conversion/cmd/assign-gen", "conversion/knative", "hack/tools", "hardening", "localcluster/env"}

// tools are the programs that the module of the fork's tools has from the template. That of an ejected module is the fork's.
func (a Arguments) tools() []string {
	programs := []string{"hack/template", "hack/tools/crd-gen", "hack/tools/generators"}
	if !slices.Contains(a.Eject, "conversion") {
		programs = append(programs, "conversion/cmd/assign-gen")
	}
	return programs
}

// requireModules has the fork's modules require those of the template. all has the template's files. The go command removes the requirements and
// checksums that turn out to be unnecessary; it would verify missing ones over the network.
func (a Arguments) requireModules(files, all tree) error {
	var sums []byte
	for _, folder := range folders {
		sums = append(sums, all[filepath.Join(folder, "go.sum")].content...)
	}
	lines := slices.Sorted(strings.Lines(string(sums)))
	sums = []byte(strings.Join(slices.Compact(lines), ""))
	for folder, tools := range map[string][]string{".": nil, "hack/tools": a.tools()} {
		path := filepath.Join(folder, "go.mod")
		gomod, err := modfile.Parse(path, files[path].content, nil)
		if err == nil {
			err = a.require(gomod, tools)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		gomod.Cleanup()
		gomod.SortBlocks()
		files[path] = file{modfile.Format(gomod.Syntax), files[path].mode}
		files[filepath.Join(folder, "go.sum")] = file{sums, files[path].mode}
	}
	return nil
}

// require changes the requirements of a module to the version that the arguments name, or replaces them with the folders that the arguments name.
func (a Arguments) require(gomod *modfile.File, tools []string) error {
	for _, tool := range tools {
		if err := gomod.AddTool(oldModule + "/" + tool); err != nil {
			return fmt.Errorf("adding the tool %s: %w", tool, err)
		}
	}
	for _, folder := range folders {
		name := strings.TrimSuffix(oldModule+"/"+folder, "/.")
		version, change := a.Modules, gomod.DropReplace(name, "")
		if !semver.IsValid(version) {
			version, change = unreleased, gomod.AddReplace(name, "", filepath.Join(a.Modules, folder), "")
		}
		if change != nil {
			return fmt.Errorf("replacing %s: %w", name, change)
		}
		// The tools use all of them.
		if len(tools) > 0 || folder == "." || slices.ContainsFunc(gomod.Require, func(r *modfile.Require) bool { return r.Mod.Path == name }) {
			if err := gomod.AddRequire(name, version); err != nil {
				return fmt.Errorf("requiring %s: %w", name, err)
			}
		}
	}
	return nil
}

// adaptLinters has the linters see the required modules as the fork's own packages, in the order of imports and where errors are wrapped.
func (a Arguments) adaptLinters(files tree) {
	f := files[linters]
	f.content = bytes.Replace(f.content, []byte("prefix("+a.Module), []byte("prefix("+a.Module+","+oldModule), 1)
	f.content = bytes.Replace(f.content, []byte(`["`+a.Module+`/*"`), []byte(`["`+oldModule+`/**", "`+a.Module+`/*"`), 1)
	files[linters] = f
}
