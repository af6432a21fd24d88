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
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
)

// options are what a release is made of.
type options struct {
	// source is the root of the checkout, and output the folder that is written.
	source, output string
	// repository is where the images go: each below it, under the name of its program.
	repository string
	// version is written into the binaries, the labels, and as the tag of the images.
	version string
	// date is the only time that is written anywhere.
	date time.Time
}

// versions are those of Go modules, and short enough for a label.
var versions = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z]([0-9A-Za-z.-]*[0-9A-Za-z])?)?$`)

const maxVersion = 63

// parse reads the flags and the environment. Errors say what to set, and to what.
func parse(ctx context.Context, args []string, getenv func(string) string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.source, "source", ".", "root of the checkout")
	flags.StringVar(&o.output, "output", "out", "folder that is written, in the checkout if it is not an absolute path")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("reading the flags: %w", err)
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q: only flags are known, no arguments", flags.Args())
	}
	var err error
	if o.source, err = filepath.Abs(o.source); err != nil {
		return o, fmt.Errorf("finding the checkout: %w", err)
	}
	if !filepath.IsAbs(o.output) {
		o.output = filepath.Join(o.source, o.output)
	}
	if o.repository, err = repository(getenv("KO_DOCKER_REPO")); err != nil {
		return o, err
	}
	if o.date, err = date(ctx, o.source, getenv("SOURCE_DATE_EPOCH")); err != nil {
		return o, err
	}
	o.version, err = version(ctx, o.source, getenv("VERSION"))
	return o, err
}

func repository(value string) (string, error) {
	const example = "such as KO_DOCKER_REPO=registry.example.com/mallard"
	if value == "" {
		return "", errors.New("KO_DOCKER_REPO is not set: it names the repository that the images are pushed to, " + example)
	}
	parsed, err := name.NewRepository(value)
	if err != nil {
		return "", fmt.Errorf("KO_DOCKER_REPO=%s must be a repository that images can be pushed to, %s: %w", value, example, err)
	}
	if host := parsed.RegistryStr(); host == "ko.local" || host == "kind.local" {
		return "", fmt.Errorf("KO_DOCKER_REPO=%s is no registry, and a release is pulled from one; it must be one, %s", value, example)
	}
	return value, nil
}

// date is SOURCE_DATE_EPOCH, or else when the commit was made.
func date(ctx context.Context, source, value string) (time.Time, error) {
	if value == "" {
		out, err := git(ctx, source, "log", "-1", "--format=%ct")
		if err != nil {
			return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is not set, and git does not know the date of the commit: %w", err)
		}
		value = out
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s must be a number of seconds since 1970, such as the output of date +%%s", value)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

// version is VERSION, or else the tag of the commit, or else one that names the commit.
func version(ctx context.Context, source, value string) (string, error) {
	if value == "" {
		described, err := git(ctx, source, "describe", "--tags", "--match=v*", "--always", "--dirty", "--abbrev=12")
		if err != nil {
			return "", fmt.Errorf("VERSION is not set, and git does not know the commit: %w", err)
		}
		value = described
		if !versions.MatchString(value) {
			value = "v0.0.0-" + value
		}
	}
	if !versions.MatchString(value) || len(value) > maxVersion {
		return "", fmt.Errorf("VERSION=%s must be a version of at most %d characters such as v1.2.3 or v1.2.3-rc.1", value, maxVersion)
	}
	return value, nil
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	var stderr strings.Builder
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir, command.Stderr, command.Env = dir, &stderr, append(os.Environ(), "LC_ALL=C")
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
