/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package site

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/mallard-dev/mallard/website/internal/pages"
)

// section is an entry of the index: the part of a page from one heading to the next.
type section struct {
	URL     string `json:"url"`
	Page    string `json:"page"`
	Heading string `json:"heading,omitempty"`
	Text    string `json:"text"`
}

// index writes the index of the search as a script, which a page loads when a reader begins to search.
func index(out string, chain []*pages.Page) error {
	var sections []*section
	for _, page := range chain {
		content, err := fs.ReadFile(os.DirFS(out), page.URL)
		if err != nil {
			return fmt.Errorf("indexing a page: %w", err)
		}
		document, err := html.Parse(bytes.NewReader(content))
		if err != nil {
			return fmt.Errorf("indexing %s: %w", page.URL, err)
		}
		sections = append(sections, sectionsOf(document, page)...)
	}
	content, err := json.Marshal(sections)
	if err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	if err := os.WriteFile(filepath.Join(out, "assets", "search-index.js"), []byte("window.searchIndex = "+string(content)+";\n"), mode); err != nil {
		return fmt.Errorf("writing the index: %w", err)
	}
	return nil
}

func sectionsOf(document *html.Node, page *pages.Page) []*section {
	sections := []*section{{URL: page.URL, Page: page.Title}}
	for node := range document.Descendants() {
		if node.DataAtom == atom.Article {
			collect(node, page, &sections)
		}
	}
	for _, section := range sections {
		section.Text = strings.Join(strings.Fields(section.Text), " ")
	}
	return sections
}

func collect(node *html.Node, page *pages.Page, sections *[]*section) {
	for child := range node.ChildNodes() {
		last := (*sections)[len(*sections)-1]
		switch child.DataAtom {
		case atom.H1, atom.Svg, atom.Details:
			// The title is indexed, and the text of diagrams is not.
		case atom.H2, atom.H3, atom.H4:
			*sections = append(*sections, &section{URL: page.URL + "#" + attribute(child, "id"), Page: page.Title, Heading: textOf(child)})
		default:
			if child.Type == html.TextNode {
				last.Text += child.Data
				continue
			}
			collect(child, page, sections)
			if isBlock(child) {
				last = (*sections)[len(*sections)-1]
				last.Text += " "
			}
		}
	}
}

// isBlock reports whether the text of an element is separate from the text behind the element.
func isBlock(node *html.Node) bool {
	switch node.DataAtom {
	case atom.P, atom.Li, atom.Td, atom.Th, atom.Pre, atom.Figcaption, atom.Div:
		return true
	default:
		return false
	}
}

// textOf returns the text of a heading without that of the link to itself.
func textOf(node *html.Node) string {
	var text strings.Builder
	for descendant := range node.Descendants() {
		if descendant.Type == html.TextNode && attribute(descendant.Parent, "class") != "anchor" {
			text.WriteString(descendant.Data)
		}
	}
	return strings.TrimSpace(text.String())
}

func attribute(node *html.Node, key string) string {
	for _, attribute := range node.Attr {
		if attribute.Key == key {
			return attribute.Val
		}
	}
	return ""
}
