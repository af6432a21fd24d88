/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package ko

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const root = "../../.."

// The images are built for this machine's architecture only; the other one of .ko.yaml differs in nothing but GOARCH.
func TestResolve_Config_ReferencesBuiltImages(t *testing.T) {
	expectResolved(t, "", "--recursive", "--filename", "config")
}

func TestResolve_Optional_ReferencesBuiltImages(t *testing.T) {
	expectResolved(t, "", "--filename", "optional")
}

func TestResolve_Hooks_ReferencesBuiltImages(t *testing.T) {
	expectResolved(t, "", "--filename", "kustomize/overlays/hooks")
}

// An overlay is rendered by kubectl, and what it prints is all that ko needs.
func TestResolve_Overlay_ReferencesBuiltImages(t *testing.T) {
	var overlay, errors bytes.Buffer
	render := exec.CommandContext(t.Context(), "go", "tool", "localcluster", "exec", "kubectl", "kustomize", "kustomize/overlays/ha")
	render.Dir = root
	render.Stdout, render.Stderr = &overlay, &errors
	if err := render.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", render, err, errors.String())
	}
	if manifests := expectResolved(t, overlay.String(), "--filename", "-"); strings.Count(manifests, "replicas: 3") != 2 {
		t.Error("what is resolved is not the overlay with three replicas of each process")
	}
}

// expectResolved runs ko resolve and expects each image to be built and pinned. It returns the manifests.
func expectResolved(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	base := host + "/base"
	platform := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	pushEmptyImage(t, base, platform)

	var program, errors bytes.Buffer
	find := exec.CommandContext(t.Context(), "go", "tool", "-n", "ko")
	find.Stdout, find.Stderr = &program, &errors
	if err := find.Run(); err != nil {
		t.Fatalf("building ko: %v\n%s", err, errors.String())
	}

	var manifests, progress bytes.Buffer
	resolve := exec.CommandContext(t.Context(), strings.TrimSpace(program.String()),
		append([]string{"resolve", "--platform", platform.String()}, args...)...)
	resolve.Dir = root
	resolve.Env = append(os.Environ(), "KO_DOCKER_REPO="+host+"/mallard", "KO_DEFAULTBASEIMAGE="+base)
	resolve.Stdin, resolve.Stdout, resolve.Stderr = strings.NewReader(stdin), &manifests, &progress
	if err := resolve.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", resolve, err, progress.String())
	}

	if strings.Contains(manifests.String(), "ko://") {
		t.Error("an import path was left where an image belongs")
	}
	images := regexp.MustCompile(`(?m)^\s+(?:- )?image: (\S+)$`).FindAllStringSubmatch(manifests.String(), -1)
	if len(images) == 0 {
		t.Fatalf("ko resolved no image in\n%s", manifests.String())
	}
	for _, match := range images {
		expectImage(t, match[1], platform)
	}
	return manifests.String()
}

// expectImage expects the image to be in the registry under its digest, to run for the platform, and to have a program.
func expectImage(t *testing.T, image string, platform v1.Platform) {
	t.Helper()
	digest, err := name.NewDigest(image)
	if err != nil {
		t.Errorf("%s is not pinned by its digest: %v", image, err)
		return
	}
	pushed, err := remote.Image(digest, remote.WithPlatform(platform), remote.WithContext(t.Context()))
	if err != nil {
		t.Errorf("%s was not pushed: %v", image, err)
		return
	}
	config, err := pushed.ConfigFile()
	if err != nil {
		t.Errorf("reading the configuration of %s: %v", image, err)
		return
	}
	if config.Architecture != platform.Architecture || len(config.Config.Entrypoint) != 1 {
		t.Errorf("%s runs %q on %s, want one program on %s", image, config.Config.Entrypoint, config.Architecture, platform)
	}
}

// pushEmptyImage stands in for the base image, which would come from the network.
func pushEmptyImage(t *testing.T, reference string, platform v1.Platform) {
	t.Helper()
	tag, err := name.NewTag(reference)
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: platform.OS, Architecture: platform.Architecture})
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, image, remote.WithContext(t.Context())); err != nil {
		t.Fatal("pushing the base image:", err)
	}
}
