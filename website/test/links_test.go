/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"bytes"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
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
	for _, page := range pages(t) {
		documents[page.url] = read(t, page.url)
	}
	commit, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := repository + "/blob/" + strings.TrimSpace(string(commit)) + "/"
	for from, page := range documents {
		for _, link := range page.links {
			if file, ok := strings.CutPrefix(link, files); ok {
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
	for _, page := range pages(t) {
		want = append(want, page.url)
	}
	if slices.Sort(visited); !slices.Equal(visited, slices.Sorted(slices.Values(want))) {
		t.Errorf("the chain has %d pages, want %d:\n%v\n%v", len(visited), len(want), visited, want)
	}
}

// TestNavigation_Index_DefinesGroupsAndOrder compares the navigation with the tables of docs/README.md.
func TestNavigation_Index_DefinesGroupsAndOrder(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, navigation, _ := strings.Cut(string(content), `<nav id="navigation"`)
	navigation, _, _ = strings.Cut(navigation, "</nav>")
	entry := regexp.MustCompile(`<h2>(.*?)</h2>|<li><a href="(.*?)"`)
	row := regexp.MustCompile(`(?m)^## (.*)$|^\| \[[^\]]*\]\((\S+)\.md\)`)
	want := []string{"index.html", "docs/index.html"}
	for _, match := range row.FindAllStringSubmatch(pageOf(t, "docs/README.md").markdown, -1) {
		if match[2] != "" {
			want = append(want, strings.Replace("docs/"+match[2]+".html", "README.", "index.", 1))
		} else {
			want = append(want, match[1])
		}
	}
	want = append(want, "Project")
	var got []string
	for _, match := range entry.FindAllStringSubmatch(navigation, -1) {
		// Other pages follow the page that refers to them, or are in the root.
		if at := match[1] + match[2]; slices.Contains(want, at) {
			got = append(got, at)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func resolve(from, link string) string {
	if link == "" {
		return ""
	}
	return path.Join(path.Dir(from), link)
}

// TestMermaid_Copy_HasItsLicense looks for the text that the license of mermaid requires with each copy.
func TestMermaid_Copy_HasItsLicense(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(out, "assets", "mermaid", "LICENSE"))
	if err != nil || !strings.Contains(string(content), "The MIT License") {
		t.Errorf("got %q, %v", content, err)
	}
}

// TestBlocks_InfoString_IsNotShown looks for attributes of fenced blocks, and for captions of excerpts.
func TestBlocks_InfoString_IsNotShown(t *testing.T) {
	captions, links := 0, 0
	for _, page := range pages(t) {
		content, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(page.url)))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "shown-by=") && !strings.Contains(page.markdown, "`shown-by=") {
			t.Errorf("%s shows an attribute", page.url)
		}
		captions += strings.Count(string(content), "<figcaption>")
		links += strings.Count(string(content), "<figcaption><a href=")
	}
	// Some excerpts are files of the reader.
	if links == 0 || captions <= links {
		t.Errorf("%d of %d captions are links", links, captions)
	}
}
