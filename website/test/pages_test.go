/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPages_EachWidth_LoadWithoutFault loads every page: the console stays empty, no request leaves the host, nothing is wider than the
// screen, and axe finds no violation of the Web Content Accessibility Guidelines.
func TestPages_EachWidth_LoadWithoutFault(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(root, ".cache", "website", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, screen := range []viewport{desktop, phone} {
		t.Run(screen.name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, screen)
			for _, page := range pages(t) {
				t.Run(page.source, func(t *testing.T) { checkPage(t, tab, screen, page, string(axe)) })
			}
		})
	}
}

func checkPage(t *testing.T, tab *tab, screen viewport, page page, axe string) {
	t.Helper()
	tab.load(t, page)
	if title := evaluate[string](t, tab, `document.querySelector("h1").textContent`); title != page.title {
		t.Errorf("the page has the heading %q, want %q", title, page.title)
	}
	if width := evaluate[int64](t, tab, `document.documentElement.scrollWidth`); width > screen.width {
		t.Errorf("the page is %d pixels wide on a screen of %d", width, screen.width)
	}
	tab.wait(t, fmt.Sprintf(`[...document.querySelectorAll(".diagram")].filter((figure) => {
		const svg = figure.querySelector("svg");
		return svg?.checkVisibility() && svg.getBoundingClientRect().height > 20 && svg.textContent.length > 20 && !svg.textContent.includes("Syntax error");
	}).length === %d`, strings.Count(page.markdown, "\n```mermaid")))
	tab.expectNoFault(t)
	tab.do(t, chromedp.Evaluate[chromedp.Void](axe))
	for _, violation := range evaluate[[]string](t, tab, `axe.run({exclude: [".diagram svg"]}).then(({violations}) =>
		violations.map((v) => v.id + ": " + v.help + "\n" + v.nodes.map((node) => node.html + "\n" + node.failureSummary).join("\n")))`) {
		t.Error(violation)
	}
}

func TestPages_WithoutScript_ShowTextAndNavigation(t *testing.T) {
	tab := open(t, desktop)
	tab.do(t, command(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}))
	all := pages(t)
	for _, page := range []page{pageOf(t, "README.md"), diagram(t)} {
		tab.load(t, page)
		if links := evaluate[int](t, tab, `[...document.querySelectorAll("#navigation a")].filter((a) => a.checkVisibility()).length`); links != len(all) {
			t.Errorf("%s: the navigation shows %d links, want %d", page.url, links, len(all))
		}
		if text := evaluate[string](t, tab, `document.querySelector("article").innerText`); !strings.Contains(text, page.title) {
			t.Errorf("%s shows %q", page.url, text)
		}
		if evaluate[bool](t, tab, `document.querySelector("#search").checkVisibility() || document.querySelector("#theme").checkVisibility()`) {
			t.Errorf("%s shows controls that need a script", page.url)
		}
	}
	if !evaluate[bool](t, tab, `document.querySelector(".diagram pre").checkVisibility()`) {
		t.Error("the text of a diagram is hidden")
	}
}

// diagram returns a page with a diagram.
func diagram(t *testing.T) page {
	t.Helper()
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return strings.Contains(p.markdown, "\n```mermaid") })
	if i < 0 {
		t.Fatal("no page has a diagram")
	}
	return all[i]
}

func TestNavigation_Phone_MenuOpensAndCloses(t *testing.T) {
	tab := open(t, phone)
	tab.load(t, pageOf(t, "README.md"))
	const shown = `document.querySelector("#navigation").checkVisibility()`
	if evaluate[bool](t, tab, shown) {
		t.Fatal("the navigation covers the page")
	}
	tab.do(t, chromedp.Click(chromedp.CSS(".menu")))
	tab.wait(t, shown)
	tab.do(t, chromedp.Click(chromedp.CSS(".close")))
	tab.wait(t, "!"+shown)
}

// TestSearch_Title_FindsThePage types the title of a page, and follows the first result.
func TestSearch_Title_FindsThePage(t *testing.T) {
	want := pageOf(t, "docs/how-to/uninstall.md")
	for _, screen := range []viewport{desktop, phone} {
		t.Run(screen.name, func(t *testing.T) {
			tab := open(t, screen)
			tab.load(t, pageOf(t, "README.md"))
			input := chromedp.CSS("#search input")
			tab.do(t, chromedp.SendKeys(input, want.title))
			tab.wait(t, `document.querySelector("#search li a")`)
			if width := evaluate[int64](t, tab, `document.documentElement.scrollWidth`); width > screen.width {
				t.Errorf("the results are %d pixels wide", width)
			}
			tab.do(t, loaded(chromedp.SendKeys(input, "\r")))
			if title := evaluate[string](t, tab, `document.querySelector("h1").textContent`); title != want.title {
				t.Errorf("the first result is %q, want %q", title, want.title)
			}
			tab.do(t, chromedp.SendKeys(input, "xyzzy-plugh"))
			tab.wait(t, `document.querySelector("#search [role=status]").textContent === "No results"`)
			tab.expectNoFault(t)
		})
	}
}

func TestTheme_SystemAndButton_ChangeColors(t *testing.T) {
	tab := open(t, desktop)
	tab.load(t, diagram(t))
	const dark = `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((color) => color < 64)`
	tab.wait(t, "!"+dark)
	tab.wait(t, `document.querySelector(".diagram svg")`)
	tab.do(t, chromedp.Evaluate[chromedp.Void](`window.light = document.querySelector(".diagram svg").outerHTML`))
	tab.do(t, prefer("dark"))
	tab.wait(t, dark)
	tab.wait(t, `document.querySelector(".diagram svg").outerHTML !== window.light`)
	tab.wait(t, `document.querySelector("#theme").ariaPressed === "true"`)
	tab.do(t, chromedp.Click(chromedp.CSS("#theme")))
	tab.wait(t, "!"+dark)
	tab.load(t, pageOf(t, "README.md"))
	if evaluate[bool](t, tab, dark) {
		t.Error("the next page forgets the choice of the reader")
	}
}
