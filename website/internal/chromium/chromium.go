/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package chromium starts the Chromium of this machine without a window: to render diagrams, and to test the website.
package chromium

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// Variable is the environment variable with the path of the browser.
const Variable = "CHROMIUM"

// names are the programs to look for, unless Variable is set.
var names = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Find returns the path of the browser.
func Find() (string, error) {
	candidates := names
	if path := os.Getenv(Variable); path != "" {
		candidates = []string{path}
	}
	for _, name := range candidates {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no Chromium in %q: install it (Debian: apt-get install chromium fonts-liberation), or set %s to the path of Chromium or Chrome",
		candidates, Variable)
}

// Start starts a browser, and returns the context of its first tab. Stop ends the browser.
func Start(ctx context.Context) (tab context.Context, stop func(), err error) {
	path, err := Find()
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
