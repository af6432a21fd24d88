/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// ko logs what it builds and pushes.
	log.SetFlags(0)
	status := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	cancel()
	os.Exit(status)
}

// exitUsage is the exit status after a bad flag or variable.
const exitUsage = 2

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	o, err := parse(ctx, args, getenv, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "release: "+err.Error())
		return exitUsage
	}
	if err := buildEnvironment(); err != nil {
		fmt.Fprintln(stderr, "release: "+err.Error())
		return 1
	}
	if err := release(ctx, o); err != nil {
		fmt.Fprintln(stderr, "release: "+err.Error())
		return 1
	}
	fmt.Fprintf(stdout, "Mallard %s is in %s, its images in %s\n", o.version, o.output, o.repository)
	return 0
}

// written are what a release consists of. Nothing else in the output folder is touched.
var written = []string{"install.yaml", "post-install.yaml", "monitoring.yaml", "kustomize.tar.gz", "images.txt", "sbom", "checksums.txt"}

// release makes everything in a new folder, and moves it to the output folder once it is complete: what was there of
// an earlier one is replaced.
func release(ctx context.Context, o options) (err error) {
	if err := os.MkdirAll(o.output, 0o755); err != nil {
		return fmt.Errorf("making the output folder: %w", err)
	}
	scratch, err := os.MkdirTemp(o.output, ".release-")
	if err != nil {
		return fmt.Errorf("making a folder in %s: %w", o.output, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()

	manifests, err := readTree(sourceFS(o), "config", "post-install", "kustomize", "samples", "monitoring", "LICENSE")
	if err != nil {
		return err
	}
	manifests = completeRule(manifests)
	programs, err := importPaths(manifests)
	if err != nil {
		return err
	}
	pinned, err := images(ctx, o, programs, filepath.Join(scratch, "sbom"))
	if err != nil {
		return err
	}
	manifests = pin(manifests, pinned, o.version)
	var list strings.Builder
	for _, program := range programs {
		list.WriteString(pinned[program] + "\n")
	}
	compressed, err := archive(manifests, "mallard-"+o.version, o.date)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"install.yaml":      oneFile(manifests, "config", "Mallard "+o.version+": kubectl apply -f install.yaml"),
		"post-install.yaml": oneFile(manifests, "post-install", "Migrates to Mallard "+o.version+": kubectl replace --force -f post-install.yaml"),
		"monitoring.yaml":   oneFile(operatorsOwn(manifests), "monitoring", "Alerts and scraping by the Prometheus operator: kubectl apply -f monitoring.yaml"),
		"kustomize.tar.gz":  compressed, "images.txt": []byte(list.String()),
	} {
		if err := write(filepath.Join(scratch, name), content); err != nil {
			return err
		}
	}
	sums, err := checksums(scratch)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(scratch, "checksums.txt"), sums); err != nil {
		return err
	}
	return replace(scratch, o.output)
}

func write(path string, content []byte) error {
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("writing the release: %w", err)
	}
	return nil
}

func replace(from, to string) error {
	for _, name := range written {
		if err := os.RemoveAll(filepath.Join(to, name)); err != nil {
			return fmt.Errorf("removing the earlier release: %w", err)
		}
		if err := os.Rename(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
			return fmt.Errorf("putting the release in place: %w", err)
		}
	}
	return nil
}
