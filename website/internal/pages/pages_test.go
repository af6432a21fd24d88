/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestRead_Index_DefinesGroupsAndOrder(t *testing.T) {
	root := write(t, map[string]string{
		"README.md":        "# Duck\n",
		"SCOPE.md":         "# Scope\n",
		"docs/README.md":   "# Pages\n\nSee [two](b/two.md).\n\n## First `A`\n\n- [Two](a/two.md), see [One](a/one.md)\n\n## Second\n\n| [b](b/README.md#x) |\n",
		"docs/a/one.md":    "# `One` of [two](two.md)\n",
		"docs/a/two.md":    "text\n\n# Two\n",
		"docs/b/README.md": "# B\n\n1. [Two](two.md)\n2. [One](one.md)\n",
		"docs/b/one.md":    "# B one\n",
		"docs/b/two.md":    "# B two\n",
		"docs/c/one.md":    "# C one\n",
		"docs/template.md": "# NNNN: Title\n",
	})
	groups, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, group := range groups {
		for _, page := range group.Pages {
			got = append(got, fmt.Sprintf("%s: %s %q", group.Title, page.URL, page.Title))
		}
	}
	want := []string{
		`: index.html "Duck"`, `: docs/index.html "Pages"`,
		`First A: docs/a/two.html "Two"`, `First A: docs/a/one.html "One of two"`,
		`Second: docs/b/index.html "B"`, `Second: docs/b/two.html "B two"`, `Second: docs/b/one.html "B one"`,
		`Project: SCOPE.html "Scope"`,
		`C: docs/c/one.html "C one"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if chain := Chain(groups); len(chain) != len(want) {
		t.Errorf("the chain has %d pages, want %d", len(chain), len(want))
	}
}

func TestRead_PageWithoutHeading_IsRejected(t *testing.T) {
	root := write(t, map[string]string{"README.md": "# Duck\n", "docs/a.md": "## A\n"})
	if _, err := Read(root); err == nil || err.Error() != "docs/a.md has no heading of level 1" {
		t.Errorf("got %v", err)
	}
}

func TestRead_NoReadme_IsRejected(t *testing.T) {
	if _, err := Read(write(t, map[string]string{"docs/a.md": "# A\n"})); err == nil {
		t.Error("got no error")
	}
}
