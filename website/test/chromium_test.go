/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// chromium is the environment variable with the path of the browser.
const chromium = "CHROMIUM"

// browsers are the programs to look for, unless the variable is set.
var browsers = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// findBrowser returns the path of the browser.
func findBrowser() (string, error) {
	candidates := browsers
	if path := os.Getenv(chromium); path != "" {
		candidates = []string{path}
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium in %q: install it (Debian: apt-get install chromium fonts-liberation), or set %s to the path of Chromium or Chrome",
		candidates, chromium)
}

// startBrowser starts a browser without a window, and returns the context of its first tab. Stop ends the browser.
func startBrowser(ctx context.Context) (tab context.Context, stop func(), err error) {
	path, err := findBrowser()
	if err != nil {
		return nil, nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		// Nothing but the pages under test uses the network.
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("no-pings", true),
		chromedp.Flag("disable-domain-reliability", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has no sandbox for root
	}
	allocator, stopAllocator := chromedp.NewExecAllocator(ctx, options...)
	tab, stopTab := chromedp.NewContext(allocator)
	stop = func() { stopTab(); stopAllocator() }
	if err := chromedp.Do(tab); err != nil {
		stop()
		return nil, nil, errors.Join(fmt.Errorf("starting %s", path), err)
	}
	return tab, stop, nil
}

func TestFindBrowser_NoBrowser_ErrorNamesPackageAndVariable(t *testing.T) {
	t.Setenv(chromium, "/no/such/browser")
	_, err := findBrowser()
	if err == nil || !strings.Contains(err.Error(), "/no/such/browser") || !strings.Contains(err.Error(), "apt-get install chromium") ||
		!strings.Contains(err.Error(), "set CHROMIUM") {
		t.Errorf("got %v", err)
	}
}
