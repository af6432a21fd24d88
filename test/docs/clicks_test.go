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

// mostClicks is the maximum number of links from README.md to any page.
const mostClicks = 3

// TestPages_LinksFromReadme_ReachEachWithinThreeClicks follows the links between Markdown pages.
func TestPages_LinksFromReadme_ReachEachWithinThreeClicks(t *testing.T) {
	isPage := map[string]bool{}
	for _, file := range documents(t) {
		if strings.HasPrefix(file, "docs/") || !strings.Contains(file, "/") {
			isPage[file] = true
		}
	}
	clicks := map[string]int{"README.md": 0}
	for reached := []string{"README.md"}; len(reached) > 0; reached = reached[1:] {
		from := reached[0]
		for _, page := range linked(read(t, from)) {
			to := path.Join(path.Dir(from), page)
			if _, known := clicks[to]; !known && isPage[to] {
				clicks[to] = clicks[from] + 1
				reached = append(reached, to)
			}
		}
	}
	for page := range isPage {
		if n, reached := clicks[page]; !reached || n > mostClicks {
			t.Errorf("%s: not within %d clicks from README.md; add it to docs/README.md", page, mostClicks)
		}
	}
}

// linked lists the targets of the links to other pages, relative to the folder of the document.
func linked(document string) []string {
	var pages []string
	for _, match := range regexp.MustCompile(`\]\(([^)#]+\.md)(#[^)]*)?\)`).FindAllStringSubmatch(prose(document), -1) {
		if !strings.Contains(match[1], "://") {
			pages = append(pages, match[1])
		}
	}
	return pages
}
