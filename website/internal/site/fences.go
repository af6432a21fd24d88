/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package site

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mallard-dev/mallard/website/internal/diagrams"
)

var fence = regexp.MustCompile("^( *)(`{3,})(.*)$")

// fences rewrites the info strings of fenced blocks for the templates, and returns the sources of the mermaid diagrams. Hugo reads
// attributes in braces only. A block becomes one of these:
//
//	```go {file="cmd/main.go" link="https://…"}
//	```mermaid {diagram="diagram-0123456789ab" about="the heading before it"}
//
// Other attributes, which name the tests that run the commands of a block, are removed.
func fences(root, files, markdown string) (rewritten string, sources []string) {
	lines := strings.SplitAfter(markdown, "\n")
	heading := ""
	for i := 0; i < len(lines); i++ {
		match := fence.FindStringSubmatch(strings.TrimRight(lines[i], "\n"))
		if match == nil {
			if strings.HasPrefix(lines[i], "#") {
				heading = strings.NewReplacer("`", "", `"`, "").Replace(strings.Trim(lines[i], "# \n"))
			}
			continue
		}
		end := i + 1
		for end < len(lines) && strings.TrimSpace(lines[end]) != match[2] {
			end++
		}
		language, attributes := info(match[3])
		switch {
		case language == "mermaid":
			source := strings.Join(lines[i+1:min(end, len(lines))], "")
			sources = append(sources, source)
			language += fmt.Sprintf(` {diagram=%q about=%q}`, diagrams.ID(source), heading)
		case attributes["file"] != "":
			language += fmt.Sprintf(` {file=%q%s}`, attributes["file"], linkTo(root, files, attributes["file"]))
		case attributes["writes"] != "":
			language += fmt.Sprintf(` {file=%q}`, attributes["writes"])
		}
		lines[i] = match[1] + match[2] + language + "\n"
		i = end
	}
	return strings.Join(lines, ""), sources
}

// info returns the language and the attributes of an info string.
func info(text string) (language string, attributes map[string]string) {
	attributes = map[string]string{}
	for i, word := range strings.Fields(text) {
		if i == 0 {
			language = word
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		attributes[key] = value
	}
	return language, attributes
}

// linkTo returns the attribute with the address of a file of the repository. Some excerpts are files of a project of the reader.
func linkTo(root, files, file string) string {
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
		return ""
	}
	return fmt.Sprintf(` link=%q`, files+"/"+file)
}
