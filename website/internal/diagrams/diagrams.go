/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package diagrams renders mermaid diagrams to SVG, for a light and for a dark background, with mermaid in a headless browser.
package diagrams

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/mallard-dev/mallard/website/internal/chromium"
)

// Themes are the suffixes of the files of one diagram.
var Themes = []string{"light", "dark"}

// timeout bounds the rendering of all diagrams.
const timeout = 2 * time.Minute

// render is a function in JavaScript: it returns the SVG of a diagram. Arial and Liberation Sans have the same metrics, so that labels fit
// into their boxes on the reader's machine, too.
const render = `async (id, theme, source) => {
	mermaid.initialize({
		startOnLoad: false, securityLevel: "strict", theme: theme === "dark" ? "dark" : "default",
		fontFamily: "Arial, Helvetica, 'Liberation Sans', sans-serif", flowchart: {wrappingWidth: 260}, gantt: {useWidth: 800},
	});
	return (await mermaid.render(id, source)).svg;
}`

var (
	// width matches the width of a diagram in its style.
	width = regexp.MustCompile(`^(<svg [^>]*max-width: ([\d.]+px);)`)
	// identifier matches identifiers. Mermaid adds the prefix only to those with references.
	identifier = regexp.MustCompile(` id="[^"]+"`)
)

// ID returns the name of a diagram, which is also the prefix of all identifiers in its SVG.
func ID(source string) string {
	sum := sha256.Sum256([]byte(source))
	return "diagram-" + hex.EncodeToString(sum[:])[:12]
}

// File returns the name of the file with a diagram for one of the themes.
func File(source, theme string) string { return ID(source) + "-" + theme + ".svg" }

// Render writes the diagrams into the folder, two files for each source. It renders only those that the folder lacks, since the name of a
// file depends on the source. Mermaid is the script.
func Render(ctx context.Context, folder, mermaid string, sources []string) error {
	var missing []string
	for _, source := range sources {
		for _, theme := range Themes {
			if _, err := os.Stat(filepath.Join(folder, File(source, theme))); err != nil {
				missing = append(missing, source)
				break
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("making the folder of the diagrams: %w", err)
	}
	tab, stop, err := chromium.Start(ctx)
	if err != nil {
		return fmt.Errorf("rendering diagrams: %w", err)
	}
	defer stop()
	tab, cancel := context.WithTimeout(tab, timeout)
	defer cancel()
	if err := chromedp.Do(tab, chromedp.Evaluate[chromedp.Void](mermaid)); err != nil {
		return fmt.Errorf("loading mermaid: %w", err)
	}
	for _, source := range missing {
		for _, theme := range Themes {
			svg, err := renderOne(tab, source, theme)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(folder, File(source, theme)), []byte(svg), 0o600); err != nil {
				return fmt.Errorf("writing a diagram: %w", err)
			}
		}
	}
	return nil
}

func renderOne(tab context.Context, source, theme string) (string, error) {
	id := ID(source) + "-" + theme
	arguments, err := json.Marshal([]string{id, theme, source})
	if err != nil {
		return "", fmt.Errorf("passing a diagram to the browser: %w", err)
	}
	svg, err := chromedp.Run(tab, chromedp.Evaluate[string]("("+render+")(..."+string(arguments)+")", chromedp.EvalAwaitPromise))
	if err != nil {
		return "", fmt.Errorf("mermaid rejects a diagram: %w:\n%s", err, source)
	}
	// The page labels the diagram: see the hook of the theme.
	svg = strings.Replace(svg, `role="graphics-document document"`, `aria-hidden="true"`, 1)
	svg = identifier.ReplaceAllStringFunc(svg, func(attribute string) string {
		if strings.HasPrefix(attribute, ` id="`+id) {
			return attribute
		}
		return ` id="` + id + `-` + strings.TrimPrefix(attribute, ` id="`)
	})
	// On a narrow screen a wide diagram is scrolled, so that its text stays readable.
	return width.ReplaceAllString(svg, "$1 min-width: min($2, 44rem);"), nil
}
