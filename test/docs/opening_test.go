/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// opening is the beginning of a page: its title, and one line about its audience, its duration and its result.
var opening = regexp.MustCompile(`^# [^\n]+\n\n> For [^\n]+\. Takes [^\n]+\. Result: [^\n]+\.\n\n`)

// TestPages_Opening_StatesAudienceDurationAndResult is about the pages of docs/, except for indexes, decisions, issues and generated pages.
func TestPages_Opening_StatesAudienceDurationAndResult(t *testing.T) {
	pages := 0
	for _, file := range documents(t) {
		if !strings.HasPrefix(file, "docs/") || path.Base(file) == "README.md" || strings.HasPrefix(file, "docs/adr/") || strings.HasPrefix(file, "docs/upstream/") {
			continue
		}
		pages++
		content := read(t, file)
		if strings.HasPrefix(content, "<!-- Code generated ") {
			continue
		}
		if !opening.MatchString(content) {
			t.Errorf("%s: below the title, there is no line of the form %q", file, "> For AUDIENCE. Takes DURATION. Result: RESULT.")
		}
	}
	if pages == 0 {
		t.Error("docs/ contains no page")
	}
}
