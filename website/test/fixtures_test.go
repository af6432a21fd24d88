/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	root = "../.."
	// repository is the web address of the repository in the website under test.
	repository = "https://repository.example.com/mallard"
	// timeout bounds the work in one tab.
	timeout = time.Minute
)

// The website under test, its address, and the browser.
var (
	out     string
	address string
	browser context.Context
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	folder, err := os.MkdirTemp("", "website")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	out = filepath.Join(folder, "a", "path")
	build := exec.CommandContext(ctx, filepath.Join(root, "hack", "website.sh"), "build", "--destination", out)
	build.Env = append(os.Environ(), "REPOSITORY="+repository)
	if output, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building the website: %w\n%s", err, output)
	}
	// The website works below a path, too.
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	address = server.URL + "/a/path/"
	var stop func()
	if browser, stop, err = startBrowser(ctx); err != nil {
		return 0, err
	}
	defer stop()
	return m.Run(), nil
}

// page is a Markdown file that the website shows.
type page struct {
	// source is the path of the file, and url that of the page.
	source, url     string
	title, markdown string
}

var (
	heading = regexp.MustCompile(`(?m)^# (.+)$`)
	link    = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	markup  = strings.NewReplacer("`", "", "*", "")
)

// pages returns the pages of the repository: the Markdown files in its root and those below docs/, without the one that authors copy.
func pages(t *testing.T) []page {
	t.Helper()
	repository := os.DirFS(root)
	sources, err := fs.Glob(repository, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(repository, "docs", func(source string, entry fs.DirEntry, err error) error {
		if path.Ext(source) == ".md" && entry.Name() != "template.md" {
			sources = append(sources, source)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []page
	for _, source := range sources {
		content, err := fs.ReadFile(repository, source)
		if err != nil {
			t.Fatal(err)
		}
		title := heading.FindStringSubmatch(string(content))
		if title == nil {
			t.Fatalf("%s has no heading of level 1", source)
		}
		url := strings.TrimSuffix(source, ".md") + ".html"
		if name, ok := strings.CutSuffix(url, "README.html"); ok {
			url = name + "index.html" // as on GitHub
		}
		all = append(all, page{source, url, markup.Replace(link.ReplaceAllString(title[1], "$1")), string(content)})
	}
	return all
}

// pageOf returns the page of a Markdown file.
func pageOf(t *testing.T, source string) page {
	t.Helper()
	all := pages(t)
	i := slices.IndexFunc(all, func(p page) bool { return p.source == source })
	if i < 0 {
		t.Fatalf("%s is no page", source)
	}
	return all[i]
}

// viewport is a screen of a reader.
type viewport struct {
	name   string
	width  int64
	height int64
	theme  string
}

var (
	desktop = viewport{name: "desktop", width: 1280, height: 900, theme: "light"}
	phone   = viewport{name: "phone", width: 360, height: 740, theme: "dark"}
)

// tab is a tab of the browser.
type tab struct {
	ctx context.Context //nolint:containedctx // a tab is a context of chromedp
	mu  sync.Mutex
	// faults are the messages of the console, and requests to other hosts.
	faults []string
}

func open(t *testing.T, screen viewport) *tab {
	t.Helper()
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	opened := &tab{ctx: ctx}
	if err := chromedp.Listen(ctx, opened.listen); err != nil {
		t.Fatal("opening a tab:", err)
	}
	opened.do(t, chromedp.EmulateViewport(screen.width, screen.height), command(network.Enable, network.EnableParams{}), prefer(screen.theme))
	return opened
}

// listen records errors. The browser is not allowed to send a request to any host but that of the test.
func (o *tab) listen(event any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := event.Request.URL; !strings.HasPrefix(url, address) && !strings.HasPrefix(url, "data:") && url != "about:blank" {
			o.faults = append(o.faults, "request: "+url)
		}
	case *log.EventEntryAdded:
		if event.Entry.Level == log.EntryLevelError || event.Entry.Level == log.EntryLevelWarning {
			o.faults = append(o.faults, fmt.Sprintf("log: %s %s", event.Entry.Text, event.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		o.faults = append(o.faults, "exception: "+event.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		o.faults = append(o.faults, fmt.Sprintf("console.%s", event.Type))
	}
}

// expectNoFault reports and forgets the faults.
func (o *tab) expectNoFault(t *testing.T) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, fault := range o.faults {
		t.Error(fault)
	}
	o.faults = nil
}

func (o *tab) do(t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(o.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal("in the browser:", err)
	}
}

// load loads a page.
func (o *tab) load(t *testing.T, to page) {
	t.Helper()
	o.do(t, chromedp.Navigate(address+to.url))
}

// evaluate returns the value of an expression.
func evaluate[T any](t *testing.T, o *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(o.ctx, timeout)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// wait waits until the expression is true.
func (o *tab) wait(t *testing.T, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(o.ctx, timeout)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression)); err != nil {
		t.Fatalf("waiting for %s: %v", expression, err)
	}
}

// prefer sets the theme of the system.
func prefer(theme string) chromedp.Action[chromedp.Void] {
	return command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}},
	})
}

// loaded waits until the page is loaded that an action navigates to.
func loaded(action chromedp.Action[chromedp.Void]) chromedp.Action[chromedp.Void] {
	wait := chromedp.WaitEvent(cdppage.LoadEventFired, func(cdppage.EventLoadEventFired) bool { return true }, action)
	return func(ctx context.Context, target *chromedp.Target) (chromedp.Void, error) {
		_, err := wait(ctx, target)
		return chromedp.Void{}, err
	}
}

func command[P any](c cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, c, params)
		return err
	})
}
