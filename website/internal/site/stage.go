/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package site

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mallard-dev/mallard/website/internal/diagrams"
	"github.com/mallard-dev/mallard/website/internal/npm"
	"github.com/mallard-dev/mallard/website/internal/pages"
)

// reference is a link to a page.
type reference struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

type group struct {
	Title string      `json:"title"`
	Pages []reference `json:"pages"`
}

// data contains the data that all pages share: hugo.Data.site in the templates.
type data struct {
	// Pages has the URL of each page by the path of its file.
	Pages  map[string]string `json:"pages"`
	Groups []group           `json:"groups"`
	Files  string            `json:"files"`
}

// frontMatter describes one page to Hugo.
type frontMatter struct {
	Title  string     `json:"title"`
	URL    string     `json:"url"`
	Params parameters `json:"params"`
}

type parameters struct {
	// Source is the path of the Markdown file.
	Source string `json:"source"`
	// Base leads from the folder of the page to the root of the website, so that the website works below any path.
	Base     string     `json:"base"`
	Address  string     `json:"address"`
	Group    string     `json:"group"`
	Previous *reference `json:"previous,omitempty"`
	Next     *reference `json:"next,omitempty"`
}

// write writes the input of Hugo into the stage, and returns the number of diagrams.
func write(ctx context.Context, root, stage string, site *Site) (int, error) {
	if err := os.CopyFS(stage, os.DirFS(filepath.Join(root, "website", "theme"))); err != nil {
		return 0, fmt.Errorf("copying the theme: %w", err)
	}
	shared := data{Pages: map[string]string{}, Files: site.Files}
	for _, g := range site.Groups {
		entry := group{Title: g.Title}
		for _, page := range g.Pages {
			shared.Pages[page.Source] = page.URL
			entry.Pages = append(entry.Pages, *referenceTo(page))
		}
		shared.Groups = append(shared.Groups, entry)
	}
	if err := writeJSON(filepath.Join(stage, "data", "site.json"), shared, ""); err != nil {
		return 0, err
	}
	var sources []string
	chain := pages.Chain(site.Groups)
	position := 0
	for _, g := range site.Groups {
		for _, page := range g.Pages {
			p := parameters{Source: page.Source, Base: strings.Repeat("../", strings.Count(page.URL, "/")), Address: page.URL, Group: g.Title}
			if position > 0 {
				p.Previous = referenceTo(chain[position-1])
			}
			if position++; position < len(chain) {
				p.Next = referenceTo(chain[position])
			}
			markdown, found := fences(root, site.Files, page.Markdown)
			sources = append(sources, found...)
			matter := frontMatter{Title: page.Title, URL: "/" + page.URL, Params: p}
			if err := writeJSON(filepath.Join(stage, "content", filepath.FromSlash(page.Source)), matter, "\n\n"+markdown); err != nil {
				return 0, err
			}
		}
	}
	return len(sources), writeDiagrams(ctx, root, filepath.Join(stage, "diagrams"), sources)
}

func writeDiagrams(ctx context.Context, root, folder string, sources []string) error {
	packages, err := npm.Install(ctx, root)
	if err != nil {
		return fmt.Errorf("installing mermaid: %w", err)
	}
	mermaid, err := fs.ReadFile(os.DirFS(packages), "@mermaid-js/tiny/dist/mermaid.tiny.js")
	if err != nil {
		return fmt.Errorf("reading mermaid: %w", err)
	}
	rendered := packages + "-diagrams"
	if err := diagrams.Render(ctx, rendered, string(mermaid), sources); err != nil {
		return fmt.Errorf("rendering the diagrams: %w", err)
	}
	if len(sources) == 0 {
		return nil
	}
	if err := os.CopyFS(folder, os.DirFS(rendered)); err != nil {
		return fmt.Errorf("copying the diagrams: %w", err)
	}
	return nil
}

func referenceTo(page *pages.Page) *reference { return &reference{Title: page.Title, URL: page.URL} }

// writeJSON writes a file with a value as JSON and a text behind it.
func writeJSON(file string, value any, text string) error {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return fmt.Errorf("writing the input of Hugo: %w", err)
	}
	if err := os.WriteFile(file, append(content, text...), 0o600); err != nil {
		return fmt.Errorf("writing the input of Hugo: %w", err)
	}
	return nil
}

// copyImages copies the images below docs/ to the same place in the website.
func copyImages(root, out string) error {
	docs := os.DirFS(filepath.Join(root, "docs"))
	err := fs.WalkDir(docs, ".", func(path string, entry fs.DirEntry, err error) error {
		extension := filepath.Ext(path)
		if err != nil || entry.IsDir() || extension != ".svg" && extension != ".png" {
			return err
		}
		content, err := fs.ReadFile(docs, path)
		if err != nil {
			return err //nolint:wrapcheck // it has the path
		}
		target := filepath.Join(out, "docs", path)
		if err := os.MkdirAll(filepath.Dir(target), folderMode); err != nil {
			return err //nolint:wrapcheck // it has the path
		}
		return os.WriteFile(target, content, mode)
	})
	if err != nil {
		return fmt.Errorf("copying the images: %w", err)
	}
	return nil
}
