/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	_ "embed"
	"regexp"
	"slices"
)

// readme has the template's names, which are replaced with those of the rest.
//
//go:embed README.md.tmpl
var readme string

// updateScript raises the versions of the template's modules.
//
//go:embed update.sh
var updateScript []byte

// updateTarget is the target of the Makefile that runs the script.
const updateTarget = `.PHONY: update
update: ## Raises the versions of the template's modules (VERSION, by default the latest)
	VERSION='$$(VERSION)' hack/update.sh
`

// folderRow matches a row of the table of folders. The pages of docs/reference are generated.
var folderRow = regexp.MustCompile("(?m)^\\| `([a-z./]+)`.*\n")

// readme describes the fork, whose files are in a tree.
func (a Arguments) readme(files tree) string {
	text := readme
	for _, kind := range kinds() {
		if !slices.Contains(a.Kinds, kind) {
			text = regexp.MustCompile(`(?m)^\| \[`+kind+`\].*\n`).ReplaceAllString(text, "")
		}
	}
	text = folderRow.ReplaceAllStringFunc(text, func(row string) string {
		folder := folderRow.FindStringSubmatch(row)[1]
		if folder != "docs/reference" && len(files.find(folder)) == 0 {
			return ""
		}
		return row
	})
	return text
}
