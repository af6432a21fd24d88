/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/mallard-dev/mallard/website/internal/npm"
	"github.com/mallard-dev/mallard/website/internal/pages"
)

// TestPages_EachWidth_LoadWithoutFault loads every page: the console stays empty, no request leaves the host, nothing is wider than the
// screen, and axe finds no violation of the Web Content Accessibility Guidelines.
func TestPages_EachWidth_LoadWithoutFault(t *testing.T) {
	packages, err := npm.Install(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(filepath.Join(packages, "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, screen := range []viewport{desktop, phone} {
		t.Run(screen.name, func(t *testing.T) {
			t.Parallel()
			tab := open(t, screen)
			for _, page := range pages.Chain(built.Groups) {
				t.Run(page.Source, func(t *testing.T) { checkPage(t, tab, screen, page, string(axe)) })
			}
		})
	}
}

func checkPage(t *testing.T, tab *tab, screen viewport, page *pages.Page, axe string) {
	t.Helper()
	tab.load(t, page)
	if title := evaluate[string](t, tab, `document.querySelector("h1").textContent`); title != page.Title {
		t.Errorf("the page has the heading %q, want %q", title, page.Title)
	}
	if width := evaluate[int64](t, tab, `document.documentElement.scrollWidth`); width > screen.width {
		t.Errorf("the page is %d pixels wide on a screen of %d", width, screen.width)
	}
	want := strings.Count(page.Markdown, "\n```mermaid")
	if got := evaluate[int](t, tab, `[...document.querySelectorAll(".diagram")].filter((figure) => {
		const shown = [...figure.querySelectorAll("svg")].filter((svg) => svg.checkVisibility() && svg.getBoundingClientRect().height > 20);
		return shown.length === 1 && shown[0].textContent.length > 20 && !shown[0].textContent.includes("Syntax error");
	}).length`); got != want {
		t.Errorf("%d diagrams are shown, want %d", got, want)
	}
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
	chain := pages.Chain(built.Groups)
	for _, page := range []*pages.Page{chain[0], chain[len(chain)-1]} {
		tab.load(t, page)
		if links := evaluate[int](t, tab, `[...document.querySelectorAll("#navigation a")].filter((a) => a.checkVisibility()).length`); links != len(chain) {
			t.Errorf("%s: the navigation shows %d links, want %d", page.URL, links, len(chain))
		}
		if text := evaluate[string](t, tab, `document.querySelector("article").innerText`); !strings.Contains(text, page.Title) {
			t.Errorf("%s shows %q", page.URL, text)
		}
		if evaluate[bool](t, tab, `document.querySelector("#search").checkVisibility() || document.querySelector("#theme").checkVisibility()`) {
			t.Errorf("%s shows controls that need a script", page.URL)
		}
	}
}

func TestNavigation_Phone_MenuOpensAndCloses(t *testing.T) {
	tab := open(t, phone)
	home := pages.Chain(built.Groups)[0]
	tab.load(t, home)
	const shown = `document.querySelector("#navigation").checkVisibility()`
	if evaluate[bool](t, tab, shown) {
		t.Fatal("the navigation covers the page")
	}
	tab.do(t, chromedp.Click(chromedp.CSS(".menu")))
	tab.wait(t, shown)
	tab.do(t, chromedp.Click(chromedp.CSS(".close")))
	tab.wait(t, "!"+shown)
}

// TestSearch_Title_FindsThePage types the title of the last page, and follows the first result.
func TestSearch_Title_FindsThePage(t *testing.T) {
	chain := pages.Chain(built.Groups)
	last := chain[len(chain)-1]
	for _, screen := range []viewport{desktop, phone} {
		t.Run(screen.name, func(t *testing.T) {
			tab := open(t, screen)
			tab.load(t, chain[0])
			input := chromedp.CSS("#search input")
			tab.do(t, chromedp.SendKeys(input, last.Title))
			tab.wait(t, `document.querySelector("#search li a")`)
			if width := evaluate[int64](t, tab, `document.documentElement.scrollWidth`); width > screen.width {
				t.Errorf("the results are %d pixels wide", width)
			}
			tab.do(t, loaded(chromedp.SendKeys(input, "\r")))
			if title := evaluate[string](t, tab, `document.querySelector("h1").textContent`); title != last.Title {
				t.Errorf("the first result is %q, want %q", title, last.Title)
			}
			tab.do(t, chromedp.SendKeys(input, "xyzzy-plugh"))
			tab.wait(t, `document.querySelector("#search [role=status]").textContent === "No results"`)
			tab.expectNoFault(t)
		})
	}
}

func TestTheme_SystemAndButton_ChangeColors(t *testing.T) {
	tab := open(t, desktop)
	chain := pages.Chain(built.Groups)
	tab.load(t, chain[0])
	const dark = `getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).every((color) => color < 64)`
	tab.wait(t, "!"+dark)
	tab.do(t, prefer("dark"))
	tab.wait(t, dark)
	tab.wait(t, `document.querySelector("#theme").ariaPressed === "true"`)
	tab.do(t, chromedp.Click(chromedp.CSS("#theme")))
	tab.wait(t, "!"+dark)
	tab.load(t, chain[1])
	if evaluate[bool](t, tab, dark) {
		t.Error("the next page forgets the choice of the reader")
	}
}
