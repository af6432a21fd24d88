/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// block is one fenced block of a document.
type block struct {
	file string
	line int
	// kind is the first word of the info string, attributes the key=value words after it.
	kind       string
	attributes map[string]string
	text       string
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

// documents are the Markdown files of the repository, by their paths from its root.
func documents(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root && entry.Name() != ".github" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			relative, err := filepath.Rel(root, path)
			files = append(files, relative)
			return err
		}
		return nil
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("finding the documents: %v (%d files)", err, len(files))
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocks are the fenced blocks of a document, in order.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	var found []block
	var current *block
	for i, line := range strings.Split(read(t, file), "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && current == nil:
			words := strings.Fields(info)
			current = &block{file: file, line: i + 1, attributes: map[string]string{}}
			for j, word := range words {
				key, value, _ := strings.Cut(word, "=")
				if j == 0 {
					current.kind = word
				} else {
					current.attributes[key] = value
				}
			}
		case fence:
			found = append(found, *current)
			current = nil
		case current != nil:
			current.text += line + "\n"
		}
	}
	if current != nil {
		t.Fatalf("%s: the block is not closed", current)
	}
	return found
}

// quoted are the kinds of blocks that are excerpts of a file.
var quoted = []string{"yaml", "go", "markdown", "text"}

func TestBlocks_EachBlock_IsVerified(t *testing.T) {
	for _, file := range documents(t) {
		for _, b := range blocks(t, file) {
			test, delegated := b.attributes["shown-by"]
			switch {
			case delegated:
				testExists(t, b, test)
			case b.kind == "sh", b.kind == "console":
				// Run by TestCommands_EachDocument_PrintWhatItShows.
			case b.kind == "mermaid":
				// A diagram claims no more than the prose around it.
			case b.kind == "diff" && b.attributes["upstream"] != "":
				// Compared by TestUpstream_Issues_FitTheRequiredRelease.
			case slices.Contains(quoted, b.kind) && b.attributes["file"] != "":
				if !strings.Contains(read(t, b.attributes["file"]), b.text) {
					t.Errorf("%s: %s does not contain the block", b, b.attributes["file"])
				}
			default:
				t.Errorf("%s: nothing shows a block of kind %q; see the comment of this package", b, b.kind)
			}
		}
	}
}

// TestBlocks_Manifests_AreReadByOlderKubectl finds manifests in commands that begin with { and are no JSON, as which kubectl 1.32 reads them.
func TestBlocks_Manifests_AreReadByOlderKubectl(t *testing.T) {
	flow := regexp.MustCompile(`(<<-?'?\w+'?[^\n]*\n|printf '|echo ')\s*\{\s*\w`)
	for _, file := range documents(t) {
		for _, b := range blocks(t, file) {
			if found := flow.FindString(b.text); found != "" {
				t.Errorf("%s: kubectl 1.32 rejects a manifest in YAML that begins with {: %q; write each field on a separate line", b, found)
			}
		}
	}
}

func testExists(t *testing.T, b block, test string) {
	t.Helper()
	folder, name, _ := strings.Cut(test, ":")
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if declaration.Match(content) {
			return
		}
	}
	t.Errorf("%s: there is no test %s in %s", b, name, folder)
}

func TestLinks_EachTarget_Exists(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	code := regexp.MustCompile("`[^`\n]+`") // brackets of a regular expression are no link
	for _, file := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(code.ReplaceAllString(prose(read(t, file)), ""), -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: link %s: %v", file, match[1], err)
			} else if anchor != "" && filepath.Ext(path) == ".md" && !anchors(prose(read(t, path)))[anchor] {
				t.Errorf("%s: link %s: %s has no heading for that anchor", file, match[1], path)
			}
		}
	}
}

// prose is a document without its fenced blocks.
func prose(document string) string {
	return regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(document, "")
}

// anchors are the anchors that GitHub gives to the headings of a document: in lower case, without punctuation, with hyphens for spaces, and
// numbered from the second heading of the same text on.
func anchors(document string) map[string]bool {
	found := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(document, -1) {
		text := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(strings.ToLower(heading[1]), "$1")
		text = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(text, "")
		anchor := strings.ReplaceAll(text, " ", "-")
		unique := anchor
		for i := 1; found[unique]; i++ {
			unique = fmt.Sprintf("%s-%d", anchor, i)
		}
		found[unique] = true
	}
	return found
}
