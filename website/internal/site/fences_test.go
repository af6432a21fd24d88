/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package site

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/website/internal/diagrams"
)

func TestFences_InfoStrings_BecomeAttributesOfHugo(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "main.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for markdown, want := range map[string]string{
		"text\n```sh\nmake run\n```\n":                           "text\n```sh\nmake run\n```\n",
		"```console fails shown-by=a:TestB\n$ false\n```\nend\n": "```console\n$ false\n```\nend\n",
		"```go file=main.go\nx\n```\n":                           "```go {file=\"main.go\" link=\"https://x/main.go\"}\nx\n```\n",
		"```go file=other.go\nx\n```\n":                          "```go {file=\"other.go\"}\nx\n```\n",
		"```go writes=a.go shown-by=a:TestB\nx\n```\n":           "```go {file=\"a.go\"}\nx\n```\n",
		"````markdown\n```sh fails\n```\n````\n":                 "````markdown\n```sh fails\n```\n````\n",
		"- item\n\n  ```sh fails\n  false\n  ```\n":              "- item\n\n  ```sh\n  false\n  ```\n",
		"## The `loop`\n\n```mermaid shown-by=a:TestB\na-->b\n```\n": "## The `loop`\n\n" +
			"```mermaid {diagram=\"" + diagrams.ID("a-->b\n") + "\" about=\"The loop\"}\na-->b\n```\n",
	} {
		got, sources := fences(root, "https://x", markdown)
		if got != want {
			t.Errorf("fences(%q) = %q, want %q", markdown, got, want)
		}
		if isDiagram := slices.Equal(sources, []string{"a-->b\n"}); isDiagram != strings.HasPrefix(markdown, "#") {
			t.Errorf("the diagrams of %q are %q", markdown, sources)
		}
	}
}
