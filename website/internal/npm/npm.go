/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package npm installs the packages of website/package.json, at the versions and with the hashes of package-lock.json: mermaid, which
// renders the diagrams, and axe, which checks the accessibility of the pages in the tests.
package npm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Install returns the folder with the packages, and installs them unless they are in the cache of the repository. It runs no script of a
// package.
func Install(ctx context.Context, root string) (string, error) {
	inputs := map[string][]byte{}
	sum := sha256.New()
	for _, name := range []string{"package.json", "package-lock.json"} {
		content, err := fs.ReadFile(os.DirFS(filepath.Join(root, "website")), name)
		if err != nil {
			return "", fmt.Errorf("reading the versions of the packages: %w", err)
		}
		inputs[name] = content
		sum.Write(content)
	}
	cache := filepath.Join(root, ".cache", "website")
	installed := filepath.Join(cache, "npm-"+hex.EncodeToString(sum.Sum(nil))[:12])
	if _, err := os.Stat(installed); err == nil {
		return installed, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", fmt.Errorf("npm is not installed: install Node.js: %w", err)
	}
	if err := os.MkdirAll(cache, 0o750); err != nil {
		return "", fmt.Errorf("making the folder of the packages: %w", err)
	}
	folder, err := os.MkdirTemp(cache, "npm")
	if err != nil {
		return "", fmt.Errorf("making the folder of the packages: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // in a cache
	for name, content := range inputs {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return "", fmt.Errorf("writing the versions of the packages: %w", err)
		}
	}
	command := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", command, err, output)
	}
	if err := os.Rename(filepath.Join(folder, "node_modules"), installed); err != nil {
		if _, other := os.Stat(installed); other != nil { // unless another process installed them first
			return "", fmt.Errorf("moving the packages into the cache: %w", err)
		}
	}
	return installed, nil
}
