/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// part of the template that a fork may leave out.
type part struct {
	// names of kinds, versions and products. A fork leaves the part out if it leaves all of them out.
	names []string
	// remove has the paths of files and folders, as patterns of path.Match.
	remove []string
	edits  []edit
}

// paragraphWith returns an expression that matches the paragraph of a package comment in which a word occurs, and the empty line after it.
func paragraphWith(word string) string {
	return `(?m)^(// .+\n)*// .*\b` + word + `\b.*\n(// .+\n)*//\n`
}

// conditionOf returns an expression that matches each match condition of webhooks that is named after a kind.
func conditionOf(kind string) string {
	return `(?m)^      - name: ` + kind + `-.*\n(        .*\n)+`
}

// edit replaces every match of an expression in a file. It has to match, so that the list of edits stays current.
type edit struct{ path, expression, replacement string }

// The parts that are no product.
const (
	onlyVersion   = "v1"
	olderVersions = "older versions"
	anything      = "anything"
)

func kinds() []string { return []string{"AddressableService", "AddressBinding", "SimpleDeployment"} }

func products() []string {
	return []string{"conversion", "crud", "hardening", "hooks", "localcluster", "migrate", "observer"}
}

// reduced reports whether the fork lacks something that the template has.
func (a Arguments) reduced() bool {
	return len(a.Kinds) < len(kinds()) || len(a.Versions) > 0 || len(a.Without) > 0
}

// converts reports whether the fork has a kind of several versions.
func (a Arguments) converts() bool {
	return len(a.Versions) == 0 && slices.Contains(a.Kinds, "AddressableService")
}

// missing returns the names of the parts that the fork does not have.
func (a Arguments) missing() []string {
	missing := slices.Clone(a.Without)
	for _, kind := range kinds() {
		if !slices.Contains(a.Kinds, kind) {
			missing = append(missing, kind)
		}
	}
	if !a.converts() {
		missing = append(missing, olderVersions)
	}
	if a.reduced() {
		missing = append(missing, anything)
	}
	return missing
}

// reduce removes the files and lines of the parts that the fork does not have.
func (a Arguments) reduce(files tree) error {
	present := maps.Clone(files)
	missing := a.missing()
	left := slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return slices.ContainsFunc(p.names, func(name string) bool { return !slices.Contains(missing, name) })
	})
	for _, part := range left {
		for _, pattern := range part.remove {
			if present.remove(pattern, files) == 0 {
				return fmt.Errorf("the template has no file %s, which a fork without %s removes", pattern, strings.Join(part.names, " and "))
			}
		}
	}
	for _, part := range left {
		for _, edit := range part.edits {
			if err := edit.apply(files, present); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e edit) apply(files tree, present tree) error {
	f, ok := files[e.path]
	if _, was := present[e.path]; was && !ok {
		return nil // another part removed the file
	}
	expression := regexp.MustCompile(e.expression)
	if !expression.Match(f.content) {
		return fmt.Errorf("%s: the expression %s of an edit matches nothing", e.path, e.expression)
	}
	f.content = expression.ReplaceAll(f.content, []byte(e.replacement))
	files[e.path] = f
	return nil
}

// libraries are the products that a fork without them requires as modules of the template.
var libraries = []string{"conversion", "hardening", "localcluster"}

// required returns the libraries that the fork requires.
func (a Arguments) required() []string {
	return slices.DeleteFunc(slices.Clone(libraries), func(library string) bool { return !slices.Contains(a.Without, library) })
}

// requireLibraries requires the libraries that the fork does not keep at a version, instead of replacing them by its folders. Their imports stay
// in the group of the fork's own packages.
func (a Arguments) requireLibraries(files tree, version string) {
	const group = "prefix(" + oldModule
	for _, library := range a.required() {
		name := oldModule + "/" + library
		replaced := regexp.MustCompile(`(?m)^(replace )?\s*` + name + `\S* => .*\n`)
		unreleased := regexp.MustCompile(`(` + name + `\S*) v\S+`)
		for path, f := range files {
			switch {
			case strings.HasSuffix(path, "go.mod"):
				f.content = unreleased.ReplaceAll(replaced.ReplaceAll(f.content, nil), []byte("$1 "+version))
			case path == ".golangci.yaml":
				f.content = bytes.Replace(f.content, []byte(group), []byte(group+","+name), 1)
			}
			files[path] = f
		}
	}
}
