/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
)

// readme has the template's names, which are replaced with those of the rest.
//
//go:embed README.md.tmpl
var readme string

// readme describes a fork that lacks a part of the template, so that the template's own README would not be true.
func (a Arguments) readme(files tree) string {
	text := readme
	for _, kind := range kinds() {
		if !slices.Contains(a.Kinds, kind) {
			text = regexp.MustCompile(`(?m)^\| \[`+kind+`\].*\n`).ReplaceAllString(text, "")
		}
	}
	for _, library := range append([]string{"crud", "observe"}, libraries...) {
		if _, has := files[library+"/doc.go"]; !has {
			text = regexp.MustCompile("(?m)^\\| `"+library+"`.*\n").ReplaceAllString(text, "")
		}
	}
	return text
}

const pageAboutForks = "https://" + oldModule + "/blob/main/docs/how-to/fork.md"

var linkToPage = regexp.MustCompile(`\]\([./a-z-]*how-to/fork\.md|\]\(fork\.md`)

// linkToTemplate has links to the page about forks lead to the template, since a fork does not have the page.
func linkToTemplate(files tree) {
	for path, f := range files {
		if strings.HasSuffix(path, ".md") {
			f.content = linkToPage.ReplaceAll(f.content, []byte("]("+pageAboutForks))
			files[path] = f
		}
	}
}
