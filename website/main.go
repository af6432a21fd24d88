/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// The website program builds the website of the repository from its Markdown files, into out/website. Make website runs it.
//
// Package pages defines which files are pages, and in which order.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/mallard-dev/mallard/website/internal/pages"
	"github.com/mallard-dev/mallard/website/internal/site"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "website:", err)
		os.Exit(1)
	}
}

func run() error {
	var options site.Options
	flag.StringVar(&options.Root, "root", "..", "`folder` of the repository")
	flag.StringVar(&options.Out, "out", "../out/website", "`folder` to write the website into")
	flag.StringVar(&options.Repository, "repository", "", "web `address` of the repository (default: that of the Go module)")
	serve := flag.String("serve", "", "`address` to serve the website at after the build, such as localhost:8080, until an interrupt")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	started := time.Now()
	built, err := site.Build(ctx, options)
	if err != nil {
		return err
	}
	fmt.Printf("%d pages with %d diagrams in %s, after %.1f s\n", len(pages.Chain(built.Groups)), built.Diagrams, options.Out, time.Since(started).Seconds())
	if *serve == "" {
		return nil
	}
	fmt.Printf("http://%s/\n", *serve)
	server := &http.Server{Addr: *serve, Handler: http.FileServer(http.Dir(options.Out)), ReadHeaderTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.ListenAndServe() }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving the website: %w", err)
	case <-ctx.Done():
		return nil
	}
}
