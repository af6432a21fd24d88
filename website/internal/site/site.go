/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package site

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mallard-dev/mallard/website/internal/pages"
)

// The files of the website are for every reader.
const (
	mode       = 0o644
	folderMode = 0o755
)

// Options are the inputs of a build.
type Options struct {
	// Root is the repository.
	Root string
	// Out is the folder to write the website into. Build replaces it.
	Out string
	// Repository is the web address of the repository, https:// and the path of the Go module by default.
	Repository string
}

// Site is a website that was built.
type Site struct {
	Groups []*pages.Group
	// Diagrams is the number of mermaid diagrams in the pages.
	Diagrams int
	// Files is the web address of the repository's files at the commit that the website shows.
	Files string
}

// Build builds the website.
func Build(ctx context.Context, options Options) (*Site, error) {
	groups, err := pages.Read(options.Root)
	if err != nil {
		return nil, fmt.Errorf("reading the pages: %w", err)
	}
	site := &Site{Groups: groups}
	if site.Files, err = files(ctx, options); err != nil {
		return nil, err
	}
	cache := filepath.Join(options.Root, ".cache", "website")
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return nil, fmt.Errorf("making the folder of the cache: %w", err)
	}
	stage, err := os.MkdirTemp(cache, "stage")
	if err != nil {
		return nil, fmt.Errorf("making the input of Hugo: %w", err)
	}
	defer os.RemoveAll(stage) //nolint:errcheck // in a cache
	if site.Diagrams, err = write(ctx, options.Root, stage, site); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(options.Out); err != nil {
		return nil, fmt.Errorf("removing the previous website: %w", err)
	}
	if err := hugo(ctx, options, stage); err != nil {
		return nil, err
	}
	if err := copyImages(options.Root, options.Out); err != nil {
		return nil, err
	}
	return site, index(options.Out, pages.Chain(groups))
}

// files returns the web address of the files of the repository at its current commit.
func files(ctx context.Context, options Options) (string, error) {
	address := options.Repository
	if address == "" {
		module, err := output(ctx, options.Root, "go", "list", "-m")
		if err != nil {
			return "", err
		}
		address = "https://" + module
	}
	commit, err := output(ctx, options.Root, "git", "rev-parse", "HEAD")
	return address + "/blob/" + commit, err
}

func hugo(ctx context.Context, options Options, stage string) error {
	out, err := filepath.Abs(options.Out)
	if err != nil {
		return fmt.Errorf("running Hugo: %w", err)
	}
	if stage, err = filepath.Abs(stage); err != nil {
		return fmt.Errorf("running Hugo: %w", err)
	}
	_, err = output(ctx, filepath.Join(options.Root, "website"),
		"go", "tool", "hugo", "build", "--quiet", "--source", stage, "--destination", out, "--panicOnWarning")
	return err
}

// output runs a command in the folder and returns what it prints.
func output(ctx context.Context, folder, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // G204: git and go
	command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	var stderr strings.Builder
	command.Stderr = &stderr
	stdout, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", command, err, stdout, stderr.String())
	}
	return strings.TrimSpace(string(stdout)), nil
}
