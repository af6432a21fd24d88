/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pages reads the Markdown files that the website shows: those in the root of the repository and those below docs/. The files have
// no front matter, since people also read them on GitHub. A page's title is its first heading. The groups of pages and their order are those
// of the links in docs/README.md.
package pages

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	home     = "README.md"
	contents = "docs/README.md"
	// template is the name of a file that authors of pages copy. It is not a page: links to it lead to the repository.
	template = "template.md"
)

// Page is a Markdown file of the repository.
type Page struct {
	// Source is the path of the file, relative to the root of the repository.
	Source string
	// URL is the path of the page, relative to the root of the website. Both trees have the same shape, so that relative links between
	// pages and to images need no other change than that of the extension.
	URL string
	// Title is the text of the first heading.
	Title string
	// Markdown is the content of the file.
	Markdown string
}

// Group is a part of the navigation.
type Group struct {
	Title string
	Pages []*Page
}

// Read returns the pages of the repository in the order of the navigation. The first group has no title: it contains the README and
// docs/README.md. Pages that docs/README.md does not link follow those of the same folder; pages of another folder are a separate group.
func Read(root string) ([]*Group, error) {
	unlisted, err := read(root)
	if err != nil {
		return nil, err
	}
	if unlisted[home] == nil {
		return nil, fmt.Errorf("%s has no %s", root, home)
	}
	groups := []*Group{{}}
	take := func(group *Group, source string) *Page {
		page := unlisted[source]
		if page != nil {
			delete(unlisted, source)
			group.Pages = append(group.Pages, page)
		}
		return page
	}
	take(groups[0], home)
	if page := take(groups[0], contents); page != nil {
		groups = append(groups, listed(page, take)...)
	}
	for _, source := range slices.Sorted(maps.Keys(unlisted)) {
		take(groupOf(&groups, path.Dir(source)), source)
	}
	return slices.DeleteFunc(groups, func(group *Group) bool { return len(group.Pages) == 0 }), nil
}

// Chain returns the pages of all groups, in order.
func Chain(groups []*Group) []*Page {
	var chain []*Page
	for _, group := range groups {
		chain = append(chain, group.Pages...)
	}
	return chain
}

// read returns the Markdown files by their paths.
func read(root string) (map[string]*Page, error) {
	repository := os.DirFS(root)
	sources, err := fs.Glob(repository, "*.md")
	if err != nil {
		return nil, fmt.Errorf("listing the Markdown files of %s: %w", root, err)
	}
	err = fs.WalkDir(repository, "docs", func(source string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(source) == ".md" && entry.Name() != template {
			sources = append(sources, source)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the Markdown files of docs/: %w", err)
	}
	pages := make(map[string]*Page)
	for _, source := range sources {
		content, err := fs.ReadFile(repository, source)
		if err != nil {
			return nil, fmt.Errorf("reading a page: %w", err)
		}
		page := &Page{Source: source, Markdown: string(content)}
		if page.Title = title(page.Markdown); page.Title == "" {
			return nil, fmt.Errorf("%s has no heading of level 1", page.Source)
		}
		page.URL = url(page.Source)
		pages[page.Source] = page
	}
	return pages, nil
}

// url returns the address of a page: README.md is the index of its folder, as on GitHub.
func url(source string) string {
	folder, name := path.Split(source)
	if name == home {
		return folder + "index.html"
	}
	return folder + strings.TrimSuffix(name, ".md") + ".html"
}

var (
	heading = regexp.MustCompile(`(?m)^# (.+)$`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\(([^)#\s]+)[^)]*\)`)
	markup  = strings.NewReplacer("`", "", "*", "", `\`, "")
	section = regexp.MustCompile(`(?m)^##+ .+$`)
	// item is a list item or a table row up to the end of its first link.
	item = regexp.MustCompile(`(?m)^ *(?:[-*|]|\d+\.) ?[^\n]*?\]\(([^)#\s]+)`)
)

func title(markdown string) string {
	match := heading.FindStringSubmatch(markdown)
	if match == nil {
		return ""
	}
	return text(match[1])
}

func text(inline string) string {
	return strings.TrimSpace(markup.Replace(link.ReplaceAllString(inline, "$1")))
}

// listed returns a group for each section of docs/README.md, with the page that each list item or table row links first. If that page is
// the README of a folder, the pages that this README lists follow.
func listed(index *Page, take func(*Group, string) *Page) []*Group {
	var groups []*Group
	headings := section.FindAllStringIndex(index.Markdown, -1)
	for i, at := range headings {
		end := len(index.Markdown)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		group := &Group{Title: text(strings.TrimLeft(index.Markdown[at[0]:at[1]], "# "))}
		groups = append(groups, group)
		follow(index.Source, index.Markdown[at[1]:end], group, take)
	}
	return groups
}

func follow(source, markdown string, group *Group, take func(*Group, string) *Page) {
	for _, match := range item.FindAllStringSubmatch(markdown, -1) {
		page := take(group, path.Join(path.Dir(source), match[1]))
		if page != nil && path.Base(page.Source) == home {
			follow(page.Source, page.Markdown, group, take)
		}
	}
}

// groupOf returns the group with pages of the folder, or adds one.
func groupOf(groups *[]*Group, folder string) *Group {
	for _, group := range (*groups)[1:] {
		if slices.ContainsFunc(group.Pages, func(page *Page) bool { return path.Dir(page.Source) == folder }) {
			return group
		}
	}
	name := path.Base(folder)
	if folder == "." {
		name = "project"
	}
	added := &Group{Title: strings.ToUpper(name[:1]) + name[1:]}
	*groups = append(*groups, added)
	return added
}
