/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/ko/pkg/build"
	"github.com/google/ko/pkg/publish"
	"sigs.k8s.io/yaml"
)

// koVersion is what the SPDX documents name as their maker. A test compares it with go.mod.
const koVersion = "v0.18.1"

// versionVariable is the variable that holds the version in the binaries.
const versionVariable = "github.com/mallard-dev/mallard/runtime/process.version"

// koConfig is what the release takes from .ko.yaml. Its base image is not: that one is for clusters of developers, and
// comes from another registry.
type koConfig struct {
	Platforms []string `json:"defaultPlatforms"`
	Env       []string `json:"defaultEnv"`
	Flags     []string `json:"defaultFlags"`
	Ldflags   []string `json:"defaultLdflags"`
}

func readKoConfig(source string) (koConfig, []v1.Platform, error) {
	var c koConfig
	file := filepath.Join(source, ".ko.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		return c, nil, fmt.Errorf("reading how images are built: %w", err)
	}
	if err := yaml.Unmarshal(content, &c); err != nil {
		return c, nil, fmt.Errorf("%s: %w", file, err)
	}
	var platforms []v1.Platform
	for _, text := range c.Platforms {
		platform, err := v1.ParsePlatform(text)
		if err != nil {
			return c, nil, fmt.Errorf("%s: defaultPlatforms: %q: %w", file, text, err)
		}
		platforms = append(platforms, *platform)
	}
	if len(platforms) == 0 {
		return c, nil, fmt.Errorf("%s: defaultPlatforms: at least one is needed, such as linux/amd64", file)
	}
	return c, platforms, nil
}

// buildEnvironment takes out of the process's environment what would change the binaries: builds have only what .ko.yaml says.
func buildEnvironment() error {
	for _, variable := range []string{"GOEXPERIMENT", "GOAMD64", "GOARM64", "GOOS", "GOARCH", "GOARM", "KOCACHE", "COSIGN_REPOSITORY"} {
		if err := os.Unsetenv(variable); err != nil {
			return fmt.Errorf("clearing the environment of the builds: %w", err)
		}
	}
	// An empty value would leave it to the settings of the user.
	for variable, value := range map[string]string{"GOFLAGS": "-buildvcs=false", "GOWORK": "off"} {
		if err := os.Setenv(variable, value); err != nil {
			return fmt.Errorf("setting the environment of the builds: %w", err)
		}
	}
	return nil
}

// images builds and pushes the image of each import path, and returns them pinned by digest. The SPDX documents are written
// to a folder.
func images(ctx context.Context, o options, importPaths []string, sbom string) (map[string]string, error) {
	config, platforms, err := readKoConfig(o.source)
	if err != nil {
		return nil, err
	}
	base, err := emptyBase(platforms, o.date)
	if err != nil {
		return nil, err
	}
	reference, err := name.ParseReference(baseName)
	if err != nil {
		return nil, fmt.Errorf("naming the base image: %w", err)
	}
	created := v1.Time{Time: o.date}
	builder, err := build.NewGobuilds(ctx, o.source, nil,
		build.WithBaseImages(func(context.Context, string) (name.Reference, build.Result, error) { return reference, base, nil }),
		build.WithPlatforms(config.Platforms...),
		build.WithDefaultEnv(config.Env),
		build.WithDefaultFlags(config.Flags),
		build.WithDefaultLdflags(append(config.Ldflags, "-X "+versionVariable+"="+o.version)),
		build.WithCreationTime(created), build.WithKoDataCreationTime(created),
		build.WithLabel("org.opencontainers.image.version", o.version),
		build.WithLabel("org.opencontainers.image.licenses", "Apache-2.0"),
		build.WithSPDX(koVersion), build.WithSBOMDir(sbom),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing the builds: %w", err)
	}
	publisher, err := publish.NewDefault(o.repository,
		publish.WithAuthFromKeychain(authn.DefaultKeychain), publish.WithUserAgent("mallard-release"), publish.WithTags([]string{o.version}),
		publish.WithNamer(func(base, importPath string) string { return path.Join(base, path.Base(importPath)) }),
	)
	if err != nil {
		return nil, fmt.Errorf("preparing to push to %s: %w", o.repository, err)
	}
	pinned := map[string]string{}
	for _, importPath := range importPaths {
		if pinned[importPath], err = image(ctx, builder, publisher, importPath); err != nil {
			return nil, err
		}
	}
	return pinned, nil
}

func image(ctx context.Context, builder build.Interface, publisher publish.Interface, importPath string) (string, error) {
	if err := builder.IsSupportedReference(build.StrictScheme + importPath); err != nil {
		return "", fmt.Errorf("%s cannot be an image: %w", importPath, err)
	}
	result, err := builder.Build(ctx, build.StrictScheme+importPath)
	if err != nil {
		return "", fmt.Errorf("building the image of %s: %w", importPath, err)
	}
	pushed, err := publisher.Publish(ctx, result, build.StrictScheme+importPath)
	if err != nil {
		return "", fmt.Errorf("pushing the image of %s: %w", importPath, err)
	}
	digest, err := result.Digest()
	if err != nil {
		return "", fmt.Errorf("computing the digest of the image of %s: %w", importPath, err)
	}
	return strings.TrimSuffix(pushed.Context().Name(), "/") + "@" + digest.String(), nil
}
