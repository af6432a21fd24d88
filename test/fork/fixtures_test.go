//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/module"

	"github.com/mallard-dev/mallard/test/checkout"
	"github.com/mallard-dev/mallard/test/moduleproxy"
)

const root = "../.."

// modules are those that forks require.
var modules = []string{".", "conversion", "conversion/knative", "conversion/cmd/assign-gen", "hack/tools", "hardening", "localcluster", "localcluster/env"}

// repository is the template, or a fork.
type repository struct{ checkout.Checkout }

// newTemplate clones the checkout.
func newTemplate(t *testing.T) repository {
	t.Helper()
	return repository{checkout.Clone(t, root)}
}

// publish serves the modules of the last commit by a proxy. It returns their version, and the environment variables that have the go command use the
// proxy.
func (r repository) publish(t *testing.T) (version string, environment []string) {
	t.Helper()
	hash, date, _ := strings.Cut(strings.TrimSpace(r.Output(t, "git", "log", "-1", "--format=%H %ct")), " ")
	seconds, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	version = module.PseudoVersion("v0", "", time.Unix(seconds, 0).UTC(), hash[:12])
	return version, moduleproxy.At(t, r.Dir, version, modules...)
}

// fork makes a fork of the last commit in a new folder, whose name contains a space.
func (r repository) fork(t *testing.T, variables map[string]string) repository {
	t.Helper()
	made := repository{checkout.Checkout{Dir: filepath.Join(t.TempDir(), "a fork"), Environment: r.Environment}}
	args := []string{"fork", "TO=" + made.Dir}
	for _, variable := range slices.Sorted(maps.Keys(variables)) {
		args = append(args, variable+"="+variables[variable])
	}
	r.Run(t, "make", args...)
	return made
}

// builds returns the local control planes that are built on this machine, for all operators.
func builds(t *testing.T) []string {
	t.Helper()
	caches, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	built, err := filepath.Glob(filepath.Join(caches, "mallard", "localcluster-*"))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// buildOf returns the name of the build that a control plane's program is from, which depends on its sources.
func buildOf(program string) string { return filepath.Base(filepath.Dir(program)) }

// withEmptyCaches returns a copy whose commands have an empty folder for caches, so that they build the control plane. They use again what the go command has
// downloaded and compiled.
func (r repository) withEmptyCaches(t *testing.T) repository {
	t.Helper()
	caches := t.TempDir()
	environment := []string{"XDG_CACHE_HOME=" + caches}
	if runtime.GOOS == "darwin" {
		environment = []string{"HOME=" + caches}
	}
	for _, variable := range []string{"GOCACHE", "GOMODCACHE"} {
		environment = append(environment, variable+"="+strings.TrimSpace(r.Output(t, "go", "env", variable)))
	}
	r.Environment = append(slices.Clone(r.Environment), environment...)
	return r
}
