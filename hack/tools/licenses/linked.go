/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-licenses/v2/licenses"
	"golang.org/x/mod/module"
)

// component is a part of what is linked in that has a licence of its own: mostly a module.
type component struct {
	// module and version are those that go.mod chooses. The standard library has neither version.
	module, version string
	// licence is the SPDX identifier, or several.
	licence string
	// files are the licence and the notices: their path in the module, and where they are.
	files map[string]string
}

// notices are files that a licence may ask to be passed on with it.
var notices = regexp.MustCompile(`(?i)^NOTICE(\.(txt|md))?$`)

// linked returns what the programs consist of on any of the platforms, sorted.
func linked(ctx context.Context, own string, platforms, programs []string) ([]component, error) {
	classifier, err := licenses.NewClassifier()
	if err != nil {
		return nil, fmt.Errorf("loading the known licences: %w", err)
	}
	standard, err := standardLibrary(ctx, classifier)
	if err != nil {
		return nil, err
	}
	byFile := map[string]component{"": standard}
	for _, platform := range platforms {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok {
			return nil, fmt.Errorf("platform %q %w", platform, errNoPlatform)
		}
		// The go command that go-licenses calls has them from here.
		if err := errors.Join(os.Setenv("GOOS", system), os.Setenv("GOARCH", architecture), os.Setenv("CGO_ENABLED", "0")); err != nil {
			return nil, fmt.Errorf("choosing the platform %s: %w", platform, err)
		}
		libraries, err := licenses.Libraries(ctx, classifier, false, []string{own}, programs...)
		if err != nil {
			return nil, fmt.Errorf("looking at what is linked in on %s: %w", platform, err)
		}
		for _, library := range libraries {
			if byFile[library.LicenseFile], err = newComponent(library); err != nil {
				return nil, err
			}
		}
	}
	var found []component
	for _, c := range byFile {
		found = append(found, c)
	}
	slices.SortFunc(found, func(a, b component) int { return cmp.Compare(a.module+" "+a.first(), b.module+" "+b.first()) })
	return found, nil
}

// first is the path of the licence in the module.
func (c component) first() string {
	for _, file := range sorted(c.files) {
		if !notices.MatchString(path.Base(file)) {
			return file
		}
	}
	return ""
}

func newComponent(library *licenses.Library) (component, error) {
	if library.LicenseFile == "" {
		return component{}, fmt.Errorf("%s has no licence that is known: it must not be linked in", library.Name())
	}
	// Modules are in folders such as …/github.com/!azure/name@v1.0.0, where !a stands for A.
	before, inside, ok := strings.Cut(filepath.ToSlash(library.LicenseFile), "@")
	version, file, inModule := strings.Cut(inside, "/")
	if !ok || !inModule || version != library.Version() {
		return component{}, fmt.Errorf("%s: its licence %s is not in a module of the module cache", library.Name(), library.LicenseFile)
	}
	escaped, err := escapedPath(before, library.Packages)
	if err != nil {
		return component{}, err
	}
	licence, err := allowed(library.Name(), library.Licenses)
	if err != nil {
		return component{}, err
	}
	c := component{module: escaped, version: version, licence: licence, files: map[string]string{file: library.LicenseFile}}
	entries, err := os.ReadDir(filepath.Dir(library.LicenseFile))
	if err != nil {
		return component{}, fmt.Errorf("looking for the notices of %s: %w", library.Name(), err)
	}
	for _, entry := range entries {
		if notices.MatchString(entry.Name()) {
			c.files[path.Join(path.Dir(file), entry.Name())] = filepath.Join(filepath.Dir(library.LicenseFile), entry.Name())
		}
	}
	return c, nil
}

// escapedPath is the path of the module whose folder in the cache this is, less its version: the longest end of the folder's
// path that one of its packages begins with.
func escapedPath(folder string, packages []string) (string, error) {
	for rest := folder; ; {
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return "", fmt.Errorf("%s is not the folder of a module that has the packages %q", folder, packages)
		}
		rest = after
		unescaped, err := module.UnescapePath(rest)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(packages, func(p string) bool { return p == unescaped || strings.HasPrefix(p, unescaped+"/") }) {
			return unescaped, nil
		}
	}
}

// sourceAtHand are licences that also ask to say where the source is of the files that they cover. The list does, by module and
// version, and none of those files is changed here.
var sourceAtHand = []string{"MPL-2.0"}

// allowed returns the identifiers of licences that only ask to be passed on.
func allowed(name string, found []licenses.License) (string, error) {
	var names []string
	var types []licenses.Type
	for _, l := range found {
		names = append(names, l.Name)
		if slices.Contains(sourceAtHand, l.Name) {
			l.Type = licenses.Notice
		}
		types = append(types, l.Type)
	}
	slices.Sort(names)
	text := strings.Join(names, " AND ")
	if licenses.LicenseTypeRestrictiveness(types...) != licenses.RestrictionsShareLicense {
		return "", fmt.Errorf("%s is licensed as %q, which asks for more than to be passed on, or is not known: it must not be linked in", name, text)
	}
	return text, nil
}

// standardLibrary is the part of Go that every program has.
func standardLibrary(ctx context.Context, classifier licenses.Classifier) (component, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return component{}, fmt.Errorf("finding the standard library: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(out)), "LICENSE")
	found, err := classifier.Identify(file)
	if err != nil {
		return component{}, fmt.Errorf("reading the licence of the standard library: %w", err)
	}
	licence, err := allowed("std", found)
	return component{module: "std", licence: licence, files: map[string]string{"LICENSE": file}}, err
}
