/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"bytes"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/mallard-dev/mallard/website/internal/pages"
)

// document is a page as it was written.
type document struct {
	// targets are the identifiers that a link can lead to.
	targets map[string]bool
	// links are the addresses of all links, images, styles and scripts.
	links []string
	// related has the addresses of links by their rel attribute.
	related map[string]string
}

func read(t *testing.T, address string) document {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(address)))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	page := document{targets: map[string]bool{"": true}, related: map[string]string{}}
	for node := range parsed.Descendants() {
		attributes := map[string]string{}
		for _, attribute := range node.Attr {
			attributes[attribute.Key] = attribute.Val
		}
		if id := attributes["id"]; id != "" {
			if page.targets[id] {
				t.Errorf("%s has two elements %s", address, id)
			}
			page.targets[id] = true
		}
		for _, key := range []string{"href", "src"} {
			if value, ok := attributes[key]; ok && node.Namespace == "" {
				page.links = append(page.links, value)
			}
		}
		if node.Data == "a" {
			page.related[attributes["rel"]] = attributes["href"]
		}
	}
	return page
}

// TestLinks_EachTarget_Exists checks links between pages with their anchors, links to files of the repository, and everything that a page
// loads.
func TestLinks_EachTarget_Exists(t *testing.T) {
	documents := map[string]document{}
	for _, page := range pages.Chain(built.Groups) {
		documents[page.URL] = read(t, page.URL)
	}
	for from, page := range documents {
		for _, link := range page.links {
			if file, ok := strings.CutPrefix(link, built.Files+"/"); ok {
				file, _, _ = strings.Cut(file, "#")
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
					t.Errorf("%s: %s: %v", from, link, err)
				}
				continue
			}
			target, err := url.Parse(link)
			if err != nil {
				t.Errorf("%s: %v", from, err)
			} else if !target.IsAbs() {
				expectTarget(t, documents, from, target)
			}
		}
	}
}

func expectTarget(t *testing.T, documents map[string]document, from string, target *url.URL) {
	t.Helper()
	to := from
	if target.Path != "" {
		to = path.Join(path.Dir(from), target.Path)
	}
	if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(to))); err != nil {
		t.Errorf("%s: %s: %v", from, target, err)
	} else if page, ok := documents[to]; ok && !page.targets[target.Fragment] {
		t.Errorf("%s: %s: the page has no such anchor", from, target)
	}
}

// TestChain_PreviousAndNext_VisitEveryPageOnce follows the links to the next page from README.md on.
func TestChain_PreviousAndNext_VisitEveryPageOnce(t *testing.T) {
	var visited []string
	at, previous := "index.html", ""
	for at != "" {
		if slices.Contains(visited, at) {
			t.Fatalf("the chain visits %s twice: %v", at, visited)
		}
		visited = append(visited, at)
		related := read(t, at).related
		if got := resolve(at, related["prev"]); got != previous {
			t.Errorf("%s: the previous page is %q, want %q", at, got, previous)
		}
		previous, at = at, resolve(at, related["next"])
	}
	var want []string
	for _, page := range pages.Chain(built.Groups) {
		want = append(want, page.URL)
	}
	if slices.Sort(visited); !slices.Equal(visited, slices.Sorted(slices.Values(want))) {
		t.Errorf("the chain has %d pages, want %d:\n%v\n%v", len(visited), len(want), visited, want)
	}
}

func resolve(from, link string) string {
	if link == "" {
		return ""
	}
	return path.Join(path.Dir(from), link)
}

// TestBlocks_InfoString_IsNotShown looks for attributes of fenced blocks, and for captions of excerpts.
func TestBlocks_InfoString_IsNotShown(t *testing.T) {
	captions := 0
	for _, page := range pages.Chain(built.Groups) {
		content, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(page.URL)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "shown-by=") && !strings.Contains(page.Markdown, "`shown-by=") {
			t.Errorf("%s shows an attribute", page.URL)
		}
		captions += strings.Count(string(content), "<figcaption>")
	}
	if captions == 0 {
		t.Error("no excerpt has a caption")
	}
}
