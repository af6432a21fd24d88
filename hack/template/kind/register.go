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
	// added are the lines of a new kind.
	added []string
}

// lists returns the lists that name a kind. Only the controller has its lists in every fork.
func (m *model) lists() []list {
	lower, module, expression := m.Lower(), regexp.QuoteMeta(m.Module), regexp.MustCompile
	link, fields := `\]\(`+regexp.QuoteMeta(strings.TrimPrefix(pages, "docs/"))+`/`, `\]\(`+regexp.QuoteMeta(pages)+`/`
	purpose := "the API that " + strings.TrimSuffix(m.Child.Purpose, ".")
	resource, page := regexp.QuoteMeta(m.Group)+"/"+m.Plural(), strings.TrimPrefix(pages, "docs/")+"/"+lower
	all := []list{
		{
			constructors, expression(`^\t"(` + module + `/[^"]+)"$`), expression(`^\t"` + module + `/pkg/reconciler/` + lower + `"$`),
			[]string{"\t\"" + m.Module + "/pkg/reconciler/" + lower + "\""},
		},
		{constructors, constructor, expression(`\b` + lower + `\.NewController`), []string{"\t" + lower + ".NewController,"}},
		{
			index, expression(`^\| \[\w+` + link + `(\w+)\.md\)`), expression(link + lower + `\.md\)`),
			[]string{"| [" + m.Kind + "](" + page + ".md) | " + purpose + ", and its [fields](" + page + "-fields.md) |"},
		},
		{
			readme, expression(`^\| \[\w+` + fields + `(\w+)-fields\.md\)`), expression(fields + lower + `-fields\.md\)`),
			[]string{"| [" + m.Kind + "](" + pages + "/" + lower + "-fields.md) | " + purpose + " |"},
		},
		{
			security, expression("^\\| controller \\| [^|]+ \\| (`[^|]+) \\| every namespace \\|"),
			expression("^\\| controller \\|.*(`" + resource + "[/`]| of " + m.Kinds() + ` \|$)`), m.writes(),
		},
	}
	return slices.DeleteFunc(all, func(l list) bool {
		content, err := m.read(l.file)
		return l.file != constructors && (err != nil || !slices.ContainsFunc(strings.Split(content, "\n"), l.line.MatchString))
	})
}

// writes returns the rows of the writes that the kind's Roles permit.
func (m *model) writes() []string {
	row := func(verbs, resource, purpose string) string {
		return "| controller | " + verbs + " | `" + resource + "` | every namespace | " + purpose + " |"
	}
	resource := m.Group + "/" + m.Plural()
	if m.Child.External {
		return []string{row("patch", resource, "the finalizer of "+m.Kinds()), row("update", resource+"/status", "the status")}
	}
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

// insert adds a line to the list.
func (l list) insert(source, line string) (string, error) {
	lines := strings.Split(source, "\n")
	at := slices.IndexFunc(lines, l.line.MatchString)
	own, ok := l.keyOf(line)
	if at < 0 || !ok {
		return "", fmt.Errorf("%s: no line is like %q, in whose order it could be inserted", l.file, strings.TrimSpace(line))
	}
	indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], "\t"))]
	for ; at < len(lines); at++ {
		if key, ok := l.keyOf(lines[at]); !ok || key > own {
			break
		}
	}
	return strings.Join(slices.Insert(lines, at, indent+strings.TrimLeft(line, "\t")), "\n"), nil
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
	for _, l := range m.lists() {
		source, err := m.edited(contents, l.file)
		for _, line := range l.added {
			if err == nil {
				source, err = l.insert(source, line)
			}
		}
		if err != nil {
			return nil, err
		}
		contents[l.file] = source
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
	m := &model{project: p, Kind: kind}
	for _, l := range m.lists() {
		source, err := p.edited(contents, l.file)
		if err != nil {
			return nil, err
		}
		contents[l.file] = l.remove(source)
	}
	for pattern, expression := range map[string]string{
		"config/500-*.yaml":   MatchConditions(kind),
		"post-install/*.yaml": `"?\b` + m.Plural() + `(\.` + regexp.QuoteMeta(p.Group) + `)?"?, ?`,
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
