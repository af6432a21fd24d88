/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package kind

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// constructors is the file with the constructors of the reconcilers, index the one with the pages of the kinds, readme the one with their fields in
// a fork that has no such pages, and security the one with the writes that the Roles permit.
const (
	constructors = "cmd/controller/main.go"
	index        = "docs/README.md"
	readme       = "README.md"
	security     = "SECURITY.md"
)

var constructor = regexp.MustCompile(`^\t+(\w+)\.NewController,$`)

// list is a list of lines outside the files of a kind, one or more of which name the kind.
type list struct {
	file string
	// line matches the lines of the list. Its first group is the key by which they are sorted.
	line *regexp.Regexp
	// own matches the lines of the kind.
	own *regexp.Regexp
}

// lists returns the lists that name a kind.
func (p *project) lists(kind string) (imports, calls list, optional []list) {
	lower, quote := strings.ToLower(kind), regexp.QuoteMeta
	module := quote(p.Module)
	imports = list{constructors, regexp.MustCompile(`^\t"(` + module + `/[^"]+)"$`), regexp.MustCompile(`^\t"` + module + `/pkg/reconciler/` + lower + `"$`)}
	calls = list{constructors, constructor, regexp.MustCompile(`\b` + lower + `\.NewController`)}
	link, fields := `\]\(`+quote(strings.TrimPrefix(pages, "docs/"))+`/`, `\]\(`+quote(pages)+`/`
	resource := "`" + quote(p.Group) + "/" + strings.ToLower(pluralOf(kind))
	for _, l := range []list{
		{index, regexp.MustCompile(`^\| \[\w+` + link + `(\w+)\.md\)`), regexp.MustCompile(link + lower + `\.md\)`)},
		{readme, regexp.MustCompile(`^\| \[\w+` + fields + `(\w+)-fields\.md\)`), regexp.MustCompile(fields + lower + `-fields\.md\)`)},
		{
			security, regexp.MustCompile("^\\| controller \\| [^|]+ \\| (`[^|]+) \\| every namespace \\|"),
			regexp.MustCompile(`^\| controller \|.*(` + resource + "[/`]| of " + pluralOf(kind) + ` \|$)`),
		},
	} {
		if content, err := p.read(l.file); err == nil && slices.ContainsFunc(strings.Split(content, "\n"), l.line.MatchString) {
			optional = append(optional, l)
		}
	}
	return imports, calls, optional
}

// entry is a line of a list.
type entry struct {
	list

	text string
}

// entries returns the lines that register a new kind.
func (m *model) entries() []entry {
	imports, calls, optional := m.lists(m.Kind)
	entries := []entry{
		{imports, "\t\"" + m.Module + "/pkg/reconciler/" + m.Lower() + "\""},
		{calls, "\t" + m.Lower() + ".NewController,"},
	}
	for _, l := range optional {
		purpose := "the API that " + strings.TrimSuffix(m.Child.Purpose, ".")
		switch l.file {
		case index:
			link := strings.TrimPrefix(m.page, "docs/")
			entries = append(entries, entry{l, "| [" + m.Kind + "](" + link + ") | " + purpose +
				", and its [fields](" + strings.TrimSuffix(link, ".md") + "-fields.md) |"})
		case readme:
			entries = append(entries, entry{l, "| [" + m.Kind + "](" + pages + "/" + m.Lower() + "-fields.md) | " + purpose + " |"})
		case security:
			for _, row := range m.writes() {
				entries = append(entries, entry{l, row})
			}
		}
	}
	return entries
}

// writes returns the rows of the writes that the kind's Roles permit.
func (m *model) writes() []string {
	row := func(verbs, resource, purpose string) string {
		return "| controller | " + verbs + " | `" + resource + "` | every namespace | " + purpose + " |"
	}
	resource := m.Group + "/" + m.Plural()
	return []string{
		row("update", resource+"/status", "the status"),
		row("update", resource+"/finalizers", "`blockOwnerDeletion` of "+m.Child.Kinds+"; nothing is written"),
		row("create, update", strings.TrimPrefix(m.Child.Group+"/"+m.Child.Plural(), "/"), "the "+m.Child.Kinds+" of "+m.Kinds()),
	}
}

func (l list) keyOf(line string) (string, bool) {
	match := l.line.FindStringSubmatch(line)
	if match == nil {
		return "", false
	}
	return match[1], true
}

// insert adds the line to the list.
func (e entry) insert(source string) (string, error) {
	lines := strings.Split(source, "\n")
	at := slices.IndexFunc(lines, e.line.MatchString)
	own, ok := e.keyOf(e.text)
	if at < 0 || !ok {
		return "", fmt.Errorf("%s: no line is like %q, in whose order it could be inserted", e.file, strings.TrimSpace(e.text))
	}
	indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], "\t"))]
	for ; at < len(lines); at++ {
		if key, ok := e.keyOf(lines[at]); !ok || key > own {
			break
		}
	}
	return strings.Join(slices.Insert(lines, at, indent+strings.TrimLeft(e.text, "\t")), "\n"), nil
}

// remove deletes the lines of the kind from the list.
func (l list) remove(source string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(source, "\n"), func(line string) bool {
		return l.line.MatchString(line) && l.own.MatchString(line)
	}), "\n")
}

// edited reads a file, unless it is already among the contents.
func (p *project) edited(contents map[string]string, file string) (string, error) {
	if content, ok := contents[file]; ok {
		return content, nil
	}
	return p.read(file)
}

// register returns the contents of the files that name the kind, with it.
func (m *model) register() (map[string]string, error) {
	contents := map[string]string{}
	for _, e := range m.entries() {
		source, err := m.edited(contents, e.file)
		if err != nil {
			return nil, err
		}
		if contents[e.file], err = e.insert(source); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// MatchConditions returns an expression that matches each match condition of webhooks that is named after a kind.
func MatchConditions(kind string) string {
	return `(?m)^      - name: ` + strings.ToLower(kind) + `-.*\n(        .*\n)+`
}

// unregister returns the contents of the files that name a kind, without it.
func (p *project) unregister(kind string) (map[string]string, error) {
	contents := map[string]string{}
	imports, calls, optional := p.lists(kind)
	for _, l := range append(optional, imports, calls) {
		source, err := p.edited(contents, l.file)
		if err != nil {
			return nil, err
		}
		contents[l.file] = l.remove(source)
	}
	for pattern, expression := range map[string]string{
		"config/500-*.yaml":   MatchConditions(kind),
		"post-install/*.yaml": `"?\b` + strings.ToLower(pluralOf(kind)) + `(\.` + regexp.QuoteMeta(p.Group) + `)?"?, ?`,
	} {
		files, err := fs.Glob(os.DirFS(p.root), pattern)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", pattern, err)
		}
		for _, file := range files {
			source, err := p.read(file)
			if err != nil {
				return nil, err
			}
			contents[file] = regexp.MustCompile(expression).ReplaceAllString(source, "")
		}
	}
	return contents, nil
}

// registered returns the packages of the reconcilers that the controller constructs.
func (p *project) registered() ([]string, error) {
	source, err := p.read(constructors)
	if err != nil {
		return nil, err
	}
	var packages []string
	for line := range strings.SplitSeq(source, "\n") {
		if match := constructor.FindStringSubmatch(line); match != nil {
			packages = append(packages, match[1])
		}
	}
	return packages, nil
}

func (p *project) write(path, content string) error {
	path = filepath.Join(p.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
