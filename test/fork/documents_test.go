//go:build nightly

/*
Copyright 2026 The Mallard Authors.
SPDX-License-Identifier: Apache-2.0
*/

package fork

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mallard-dev/mallard/localcluster/env/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.MainWithoutEnvironment(m)) }

var link = regexp.MustCompile(`\]\(([\w./-]+)(?:#[^)]*)?\)`)

// expectReference checks that the README leads to the generated page of each kind, and that each relative link of the documents leads to a file.
func (r repository) expectReference(t *testing.T, kinds string) {
	t.Helper()
	readme := r.Read(t, "README.md")
	for kind := range strings.SplitSeq(strings.ToLower(kinds), ",") {
		if row := "](docs/reference/api/" + kind + "-fields.md) | the API that "; !strings.Contains(readme, row) {
			t.Errorf("the README has no row with %q:\n%s", row, readme)
		}
	}
	for _, page := range r.Files(t, "README.md", "docs/*.md") {
		for _, match := range link.FindAllStringSubmatch(r.Read(t, page), -1) {
			if _, err := os.Stat(filepath.Join(r.Dir, filepath.Dir(page), match[1])); err != nil {
				t.Errorf("%s: the link %s leads to no file: %v", page, match[0], err)
			}
		}
	}
}

// owner matches a row of the page's table of paths and their owners.
var owner = regexp.MustCompile("(?m)^\\| `([^|]+)` \\| (generated|the kind's|yours|template's; yours|template's)[ :|]")

// expectOwners expects a kind to have added files of kinds, and to have changed lines of files in which the page lists lines of kinds.
func (r repository) expectOwners(t *testing.T, page, kind string) {
	t.Helper()
	rows := owner.FindAllStringSubmatch(page, -1)
	for line := range strings.Lines(r.Output(t, "git", "status", "--porcelain", "--untracked-files=all")) {
		status, path := line[:2], strings.TrimSpace(line[2:])
		want := map[string]string{"??": "the kind's", " M": "template's; yours"}[status]
		at := slices.IndexFunc(rows, func(row []string) bool {
			return slices.ContainsFunc(strings.Split(row[1], "`, `"), func(pattern string) bool { return describes(strings.ReplaceAll(pattern, "KIND", kind), path) })
		})
		if at < 0 || rows[at][2] != want && rows[at][2] != "generated" {
			t.Errorf("make kind leaves %s %s, which is in a row of docs/how-to/fork.md that does not allow it (row %d)", status, path, at)
		}
	}
}

// describes reports whether a pattern matches a path or a folder that it is in.
func describes(pattern, path string) bool {
	for ; path != "."; path = filepath.Dir(path) {
		if ok, err := filepath.Match(pattern, path); ok || err != nil {
			return ok
		}
	}
	return false
}

// expectInstalls runs the commands of the README's section about the installation, in one shell, on a control plane without an operator. At the
// end the control plane is as it was. Images run on Linux only.
func (r repository) expectInstalls(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	section := regexp.MustCompile(`(?s)\n## Install\n.*?\n## `).FindString(r.Read(t, "README.md"))
	var commands strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(section, -1) {
		commands.WriteString(block[1])
	}
	script := commands.String()
	repository := regexp.MustCompile(`(?m)^export KO_DOCKER_REPO=registry\.example\.com/.*\n`)
	if !repository.MatchString(script) {
		t.Fatalf("the commands of the README do not set the repository of the images:\n%s", script)
	}
	env := harness.Own(t, harness.Bare(), harness.WithImages())
	awaitRestored := env.Remember(t)
	r.Environment = append(append(r.Environment, env.KoEnvironment(t)...), "KUBECONFIG="+env.Kubeconfig, "KUBECACHEDIR="+t.TempDir(),
		"KO_DEFAULTPLATFORMS=linux/"+runtime.GOARCH, "PATH="+env.KubectlPath(t)+string(os.PathListSeparator)+os.Getenv("PATH"))
	r.Run(t, "bash", "-e", "-u", "-x", "-o", "pipefail", "-c", repository.ReplaceAllString(script, ""))
	awaitRestored()
}

// expectReleases makes a release in a registry of the process. For a second platform, everything would be compiled again.
func (r repository) expectReleases(t *testing.T) {
	t.Helper()
	for _, platform := range []string{"amd64", "arm64"} {
		if platform != runtime.GOARCH {
			r.replace(t, ".ko.yaml", "  - linux/"+platform+"\n", "")
		}
	}
	env := harness.Own(t, harness.Bare(), harness.WithImages())
	r.Environment = append(append(r.Environment, env.KoEnvironment(t)...), "VERSION=v1.2.3")
	r.Run(t, "make", "release")
	for _, path := range []string{"out/install.yaml", "out/monitoring.yaml", "out/kustomize.tar.gz", "out/checksums.txt"} {
		if _, err := os.Stat(filepath.Join(r.Dir, path)); err != nil {
			t.Errorf("make release has not written %s: %v", path, err)
		}
	}
	if manifests := r.Read(t, "out/install.yaml"); strings.Contains(manifests, "ko://") || !strings.Contains(manifests, "app.kubernetes.io/version: v1.2.3") {
		t.Errorf("the manifests of the release have no images or no version:\n%s", manifests)
	}
}
