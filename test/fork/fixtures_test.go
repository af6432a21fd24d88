//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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

// libraries are the modules that forks may require.
var libraries = []string{"conversion", "conversion/knative", "hardening", "localcluster", "localcluster/env"}

// repository is the template, or a fork.
type repository struct{ checkout.Checkout }

// newTemplate clones the checkout. A proxy serves the template's modules at its last commit.
func newTemplate(t *testing.T) repository {
	t.Helper()
	template := repository{checkout.Clone(t, root)}
	template.Environment = template.serveModules(t)
	return template
}

// serveModules returns the environment variables for commands that download the modules of the last commit.
func (r repository) serveModules(t *testing.T) []string {
	t.Helper()
	hash, date, _ := strings.Cut(strings.TrimSpace(r.Output(t, "git", "log", "-1", "--format=%H %ct")), " ")
	seconds, err := strconv.ParseInt(date, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return moduleproxy.At(t, r.Dir, module.PseudoVersion("v0", "", time.Unix(seconds, 0).UTC(), hash[:12]), libraries...)
}

// fork makes a fork of the last commit in a new folder.
func (r repository) fork(t *testing.T, variables map[string]string) repository {
	t.Helper()
	made := repository{checkout.Checkout{Dir: filepath.Join(t.TempDir(), "fork"), Environment: r.Environment}}
	args := []string{"fork", "TO=" + made.Dir}
	for _, variable := range slices.Sorted(maps.Keys(variables)) {
		args = append(args, variable+"="+variables[variable])
	}
	r.Run(t, "make", args...)
	return made
}

// removeCache removes the control plane of forks with these names after the test, unless one was built before. It is cached for each user, under
// the name.
func removeCache(t *testing.T, variables map[string]string) {
	t.Helper()
	caches, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	cache := filepath.Join(caches, strings.ToLower(variables["NAME"]))
	if _, err := os.Stat(cache); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(cache); err != nil {
			t.Error(err)
		}
	})
}
