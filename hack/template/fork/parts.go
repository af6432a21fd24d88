/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
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

// edit replaces every match of an expression in a file. It has to match, so that the list of edits stays current.
type edit struct{ path, expression, replacement string }

// The parts that are no product.
const (
	onlyVersion   = "v1"
	olderVersions = "older versions"
)

func kinds() []string { return []string{"AddressableService", "AddressBinding", "SimpleDeployment"} }

// converts reports whether the fork has a kind of several versions.
func (a Arguments) converts() bool {
	return len(a.Versions) == 0 && slices.Contains(a.Kinds, "AddressableService")
}

// missing returns the names of the parts that the fork does not have.
func (a Arguments) missing() []string {
	missing := slices.Clone(a.Without)
	for name := range ejectable {
		if !slices.Contains(a.Eject, name) {
			missing = append(missing, name)
		}
	}
	for _, kind := range kinds() {
		if !slices.Contains(a.Kinds, kind) {
			missing = append(missing, kind)
		}
	}
	if !a.converts() {
		missing = append(missing, olderVersions)
	}
	return missing
}

// reduce removes the files and lines of the parts that the fork does not have.
func (a Arguments) reduce(files tree) error {
	present := maps.Clone(files)
	if err := a.keep(files); err != nil {
		return err
	}
	missing := a.missing()
	left := slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		return slices.ContainsFunc(p.names, func(name string) bool { return !slices.Contains(missing, name) })
	})
	for _, part := range left {
		for _, pattern := range part.remove {
			paths := present.find(pattern)
			if len(paths) == 0 {
				return fmt.Errorf("the template has no file %s, which a fork without %s removes", pattern, strings.Join(part.names, " and "))
			}
			for _, path := range paths {
				delete(files, path)
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
